"""`value`: an expression has the value that the PyTorch gives."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr, Nan, Tolerance, TorchExpr
from tutor.checks.compare import compare, words
from tutor.tree import Tree


class Value(Check, frozen=True, kw_only=True):
    """The value of `value` beside JAX equals that of `expect` beside PyTorch."""

    kind: ClassVar[str] = "value"
    inside: ClassVar[str] = "tutor.checks.inside.value"

    value: Annotated[JaxExpr, Meta(description="What the learner's code is asked for.")]
    expect: Annotated[
        TorchExpr | None,
        Meta(description="The same, asked of the PyTorch; the same text if left out."),
    ] = None
    tol: Tolerance | None = None
    nan: Nan = False
    evidence: Annotated[
        bool,
        Meta(
            description="The expression draws a conclusion itself, in the learner's process, where "
            "code can flatter it: it may fail an answer, and stands `after` a check of raw values."
        ),
    ] = False

    def observe(self) -> dict[str, Any]:
        return {"expression": self.value}

    def refer(self) -> dict[str, Any]:
        return {"expression": self.expect or self.value}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        mismatch = compare(expected, observed, self.tol)
        if mismatch is None:
            return None
        return Finding(words(mismatch), mismatch, compared=(expected, observed))
