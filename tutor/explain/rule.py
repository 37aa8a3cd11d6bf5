"""Rules: when they apply, and what they explain.

Rules are data, in `rules/<topic>.yaml`; names that do not exist are in `names.yaml` (see
`tutor.explain.names`). Tests read every rule, run its example, and check its texts.
"""

from typing import Annotated

from msgspec import Meta, Struct, field

from tutor.check import FindingCode
from tutor.lesson import Id

Texts = str | tuple[str, ...]
"""One text or several, of which one must match."""

Prose = Annotated[str, Meta(min_length=1, max_length=700)]
Code = Annotated[str, Meta(min_length=1, max_length=900)]


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conditions, which must all hold. Of several texts under one key, one must match.

    `exception`: the exception's class, without its module. `finding`: the code of what a check
    found (`tutor.check.Finding`). `fault`: another fault, by its code in
    `tutor.sandbox.faults`. `check`: the kind of the failed check. `cause`: a cause that the numbers
    confirm, from `tutor.explain.causes`. `sizes`: how the first two shapes in the message differ
    (`tutor.explain.sizes`). The others are patterns (`tutor.explain.pattern`), found
    in: `message`, the exception's; `line`, the learner's line that raised; `source` and `beside`,
    the learner's code; `through`, the frames of a traceback, the libraries' as well, or the
    learner's code. `lacks` must not be in the learner's code. With `names_jax`, a pasted text must
    also name JAX, Flax or Optax, because other libraries word the message the same.
    """

    exception: Texts = ()
    finding: FindingCode | tuple[FindingCode, ...] = ()
    fault: Texts = ()
    check: Texts = ()
    cause: Texts = ()
    message: Texts = ()
    sizes: Texts = ()
    line: Texts = ()
    source: Texts = ()
    beside: Texts = ()
    lacks: Texts = ()
    through: Texts = ()
    names_jax: bool = False


class Possibility(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another mistake that fails with the same message.

    Without `when`, it is shown after the rule's own. With `when`, it is shown only where that
    holds, and then first, because the code or the message has signs of it.
    """

    when: When | None = None
    what: Prose
    instead: Code


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An explanation, and when it applies. Without `why`, `instead` and `lesson`, it only states
    what the numbers of a wrong answer show.

    **Arguments:** `what`: what happened, for PyTorch developers; `why`: why JAX behaves this way;
    `instead`: Python to write instead; `or_`: up to two other mistakes that fail with this message;
    `example`: a module whose import raises the error; for a wrong answer, a submission; `recorded`:
    the error's text in its place, if it cannot be raised on every machine, below a comment with its
    source; `devices`: how many simulated devices the example needs; `lesson`: the lesson that
    teaches it; `link`: a page of JAX, Flax or Optax about it; `likely`: whether it is a guess.
    """

    id: Id
    when: When
    what: Prose
    why: Prose = ""
    instead: Code = ""
    or_: Annotated[tuple[Possibility, ...], Meta(max_length=2)] = field(default=(), name="or")
    example: str = ""
    recorded: str = ""
    devices: Annotated[int, Meta(ge=1, le=8)] = 1
    lesson: Id = ""
    link: Annotated[str, Meta(pattern=r"^https://|^$")] = ""
    likely: bool = False

    @property
    def explains_answers(self) -> bool:
        """Whether it is about wrong answers rather than errors."""
        return bool(self.when.finding or self.when.cause or self.when.check)

    @property
    def is_likely(self) -> bool:
        """Whether its advice need not fit: numbers can agree by chance. A statement about them is
        true."""
        return self.likely or bool(self.when.cause and self.instead)

    @property
    def title(self) -> str:
        """What happened, in one sentence without the learner's line."""
        return without_line(" ".join(self.what.split())).partition(". ")[0].removesuffix(".")


class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of rules about one topic."""

    about: Annotated[str, Meta(max_length=400)]
    rules: Annotated[tuple[Rule, ...], Meta(min_length=1)]


def several(value: Texts) -> tuple[str, ...]:
    """Return the texts of a key that takes one or several."""
    return (value,) if isinstance(value, str) else value


def without_line(text: str) -> str:
    """Return a text for when the learner's line is not known."""
    text = text.removeprefix("`{line}`: ")
    if text.startswith("`{line}` "):
        text = text.replace("`{line}`", "your code", 1)
    text = text.replace("`{line}`", "your line")
    return text[:1].upper() + text[1:]
