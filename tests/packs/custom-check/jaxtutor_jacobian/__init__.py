"""`jacobian`: the Jacobian of the learner's function equals that of the PyTorch.

jaxtutor itself imports this half. It requests values and compares them with NumPy; it must import
neither JAX nor PyTorch.
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
    at: Annotated[JaxExpr, Meta(description="The array at which it is evaluated.")]
    expect: Annotated[
        TorchExpr | None,
        Meta(description="The function in the PyTorch; by default the same text."),
    ] = None
    tol: Annotated[Tolerance, Meta(description="Scaled error.")] = 2e-5

    def observe(self) -> dict[str, Any]:
        return {"function": self.jacobian, "at": self.at}

    def refer(self) -> dict[str, Any]:
        return {"function": self.expect or self.jacobian, "at": self.at}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        mismatch = compare(expected, observed, self.tol)
        return Finding(f"the Jacobian: {words(mismatch)}", mismatch) if mismatch else None
