"""Rules: when they apply, and what they explain.

Rules are data, in `rules/<topic>.yaml`; names that do not exist are in `names.yaml` (see
`tutor.explain.names`). A field's `extra={"holds": …}` says what its text means; tests validate it,
and run every example.
"""

from typing import Annotated

from msgspec import Meta, Struct, field

from tutor.lesson import Id

Patterns = Annotated[str | tuple[str, ...], Meta(extra={"holds": "patterns"})]
Words = Annotated[str | tuple[str, ...], Meta(extra={"holds": "words"})]
Text = Annotated[str, Meta(min_length=1, max_length=900)]


class When(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conditions, which must all hold. Of several texts under one key, one must match."""

    exception: Annotated[Words, Meta(description="The exception's class, without its module.")] = ()
    fault: Annotated[Words, Meta(description="Another fault: a code of tutor.sandbox.faults.")] = ()
    check: Annotated[Words, Meta(description="The kind of the failed check.")] = ()
    cause: Annotated[
        Words, Meta(description="A possible cause, from comparing expected and actual.")
    ] = ()
    message: Annotated[
        Patterns, Meta(description="In the message of the exception or of the check.")
    ] = ()
    sizes: Annotated[
        Words,
        Meta(
            description="How the first two shapes in the message differ: a name of "
            "tutor.explain.sizes."
        ),
    ] = ()
    line: Annotated[
        Patterns, Meta(description="In the learner's line that raised the exception.")
    ] = ()
    source: Annotated[Patterns, Meta(description="Anywhere in the learner's code.")] = ()
    beside: Annotated[Patterns, Meta(description="Also anywhere in the learner's code.")] = ()
    lacks: Annotated[Patterns, Meta(description="Not in the learner's code.")] = ()
    torch: Annotated[Patterns, Meta(description="In the PyTorch code that the check uses.")] = ()
    asked: Annotated[Patterns, Meta(description="In the check's name, expressions or `why`.")] = ()
    through: Annotated[
        Patterns,
        Meta(
            description="In a traceback's frames, the libraries' as well, as `File "
            '"optax/base.py", line 3, in update` and the line; or in the learner\'s code.'
        ),
    ] = ()
    set_by: Annotated[
        Words,
        Meta(
            description="Calls of which a name in the failing statement is the whole result, as "
            "tutor/explain/returned.yaml spells them."
        ),
    ] = ()
    imports: Annotated[
        Words,
        Meta(
            description="Packages and modules, such as nnx, of which the learner's files must name "
            "one, if they are at hand."
        ),
    ] = ()
    names_jax: Annotated[
        bool,
        Meta(
            description="Whether a pasted text must also name JAX, Flax or Optax, because other "
            "libraries word the message the same."
        ),
    ] = False


class Possibility(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another mistake that fails with the same message, which the conditions cannot tell apart.

    It is listed before the others where `when` holds: something makes it more likely. With `only`,
    it is listed only there, as is right for what happens with one library alone.
    """

    when: Annotated[
        When | None, Meta(description="Conditions that make it likelier than the others.")
    ] = None
    only: Annotated[
        bool, Meta(description="Whether it is left out where `when` does not hold.")
    ] = False
    what: Annotated[Text, Meta(description="What happened then.")]
    instead: Annotated[
        str, Meta(min_length=1, max_length=1_500, description="Python code to write instead.")
    ]


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An explanation, and when it applies."""

    id: Annotated[Id, Meta(description="Unique among all rules.")]
    when: When
    what: Annotated[Text, Meta(description="What happened, for PyTorch developers.")]
    why: Annotated[Text, Meta(description="Why JAX behaves this way.")]
    instead: Annotated[
        str, Meta(min_length=1, max_length=1_500, description="Python code to write instead.")
    ]
    or_: Annotated[
        tuple[Possibility, ...],
        Meta(description="What else fails with this message; all are shown, as *one of*."),
    ] = field(default=(), name="or")
    example: Annotated[
        str,
        Meta(
            description="A module whose import raises the explained exception; of a rule about a "
            "wrong answer, a submission.",
            extra={"holds": "module"},
        ),
    ]
    lesson: Annotated[Id, Meta(description="The lesson that teaches it, existing or planned.")]
    link: Annotated[
        str, Meta(description="A page of JAX, Flax or Optax about it.", pattern=r"^https://|^$")
    ] = ""
    old: Annotated[
        str,
        Meta(
            description="The last release that words it so, as in `jax 0.4.30`: the wording is "
            "recognised as old, and called so.",
        ),
    ] = ""
    likely: Annotated[
        bool, Meta(description="Whether it is a guess; rules with a `cause` always are.")
    ] = False

    @property
    def title(self) -> str:
        """What happened, in one sentence without the learner's line."""
        return without_line(" ".join(self.what.split())).partition(". ")[0].removesuffix(".")


class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of rules."""

    about: Annotated[str, Meta(max_length=400, description="The topic of these rules.")]
    rules: Annotated[tuple[Rule, ...], Meta(min_length=1)]


def several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of a key that takes one or several."""
    return (value,) if isinstance(value, str) else value


def without_line(text: str) -> str:
    """Return a text for when the learner's line is not known."""
    text = text.removeprefix("`{line}`: ")
    if text.startswith("`{line}` "):
        text = text.replace("`{line}`", "your code", 1)
    text = text.replace("`{line}`", "your line")
    return text[:1].upper() + text[1:]
