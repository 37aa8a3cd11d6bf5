"""`raises`: a call is refused with the right exception."""

from typing import Annotated, ClassVar

from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr
from tutor.foreign.plain_text import cut, quoted_code
from tutor.tree import Tree, TreeError, brief, entry, items, text


class Raises(Check, frozen=True, kw_only=True):
    """The expression raises an exception of a class in `error`, or of a class derived from one.

    Code that always raises passes, too, so the lesson needs a value check.
    """

    kind: ClassVar[str] = "raises"
    inside: ClassVar[str] = "tutor.checks.inside.raises"
    default_cases: ClassVar[int] = 2

    raises: Annotated[JaxExpr, Meta(description="Expression to evaluate with the learner's code.")]
    error: Annotated[
        str | tuple[str, ...],
        Meta(description="Name of the exception's class, such as ValueError, or a list of names."),
    ]
    says: Annotated[
        str | tuple[str, ...], Meta(description="Words that its message must contain.")
    ] = ()

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        wanted = (self.error,) if isinstance(self.error, str) else self.error
        expectation = " or ".join(wanted)
        if not isinstance(observed, dict):
            raise TreeError("expected what the call raised")
        if "returned" in observed:
            value = cut(brief(observed["returned"]), 200)
            call = quoted_code(self.raises)
            return Finding(f"{call} returned {value}, expected it to raise {expectation}")
        classes = [text(name) for name in items(entry(observed, "classes"))]
        message = text(entry(observed, "message"))
        if not classes:
            raise TreeError("expected the exception's class")
        name = cut(classes[0], 100)
        if not {_bare(one) for one in classes} & {_bare(one) for one in wanted}:
            said = cut(message, 300)
            return Finding(f"the call raised {name}: {said}; expected {expectation}")
        for words in (self.says,) if isinstance(self.says, str) else self.says:
            if words.lower() not in message.lower():
                return Finding(
                    f"the message of the {name} is {cut(message, 300)!r}, expected it to contain "
                    f"{words!r}"
                )
        return None


def _bare(name: str) -> str:
    """Return a class's name without its module: JAX moves its exceptions between modules."""
    return name.rpartition(".")[2]
