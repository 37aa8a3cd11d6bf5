"""`jacobian`: the Jacobian of the learner's function equals that of the PyTorch.

This half is imported by jaxtutor itself: it says what to ask and judges the answers with NumPy.
Neither JAX nor PyTorch may be imported here.
"""

from typing import Annotated, Any, ClassVar

from msgspec import Meta
from tutor.check import Case, Check, Finding, JaxExpr, Tolerance, TorchExpr
from tutor.checks.compare import compare, words
from tutor.tree import Tree


class Jacobian(Check, frozen=True, kw_only=True):
    """`jax.jacobian(jacobian)(at)` equals `torch.autograd.functional.jacobian` of `expect` there."""

    kind: ClassVar[str] = "jacobian"
    inside: ClassVar[str] = "jaxtutor_jacobian.inside"
    default_cases: ClassVar[int] = 2

    jacobian: Annotated[JaxExpr, Meta(description="A function of one array: a name, or a lambda.")]
    at: Annotated[JaxExpr, Meta(description="Where: an array.")]
    expect: Annotated[
        TorchExpr | None,
        Meta(description="The function, asked of the PyTorch; the same text if left out."),
    ] = None
    tol: Annotated[Tolerance, Meta(description="Scaled error.")] = 2e-5

    def observe(self) -> dict[str, Any]:
        return {"function": self.jacobian, "at": self.at}

    def refer(self) -> dict[str, Any]:
        return {"function": self.expect or self.jacobian, "at": self.at}

    def judge(self, seen: Tree, expected: Tree | None, case: Case) -> Finding | None:
        mismatch = compare(expected, seen, self.tol)
        return Finding(f"the Jacobian: {words(mismatch)}", mismatch) if mismatch else None
