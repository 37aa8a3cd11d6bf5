"""`value`: an expression has the value of the reference."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr, Nan, Tolerance, TorchExpr
from tutor.checks.compare import compare, words
from tutor.tree import Tree


class Value(Check, frozen=True, kw_only=True):
    """The value of `value` in JAX equals that of `expect` in PyTorch."""

    kind: ClassVar[str] = "value"
    inside: ClassVar[str] = "tutor.checks.inside.value"

    value: Annotated[JaxExpr, Meta(description="Expression to evaluate with the learner's code.")]
    expect: Annotated[
        TorchExpr | None,
        Meta(description="PyTorch expression with the right value; the same text if absent."),
    ] = None
    tol: Tolerance | None = None
    nan: Nan = False
    evidence: Annotated[
        bool,
        Meta(
            description="The expression draws a conclusion in the learner's process, where code "
            "can fake it. It can only fail an answer, and runs `after` a check of raw values."
        ),
    ] = False

    def refer(self) -> dict[str, Any]:
        return {"expression": self.expect or self.value}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        mismatch = compare(expected, observed, self.tol)
        if mismatch is None:
            return None
        return Finding(words(mismatch), mismatch, compared=(expected, observed))
