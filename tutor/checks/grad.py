"""`grad`: a gradient of the learner's function equals PyTorch autograd's."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.arrays import np
from tutor.check import Case, Check, Finding, JaxExpr, Nan, Tolerance, TorchExpr
from tutor.checks.compare import compare, words
from tutor.tree import Leaf, Tree, map_leaves

TOLERANCE_FACTOR = 2.0
"""Relative to the tolerance of values: gradients sum over more."""


class Grad(Check, frozen=True, kw_only=True):
    """`jax.grad(grad, argnums)(*at)` equals `torch.autograd.grad` of `expect`, or its conjugate for
    complex arguments, as JAX defines gradients."""

    kind: ClassVar[str] = "grad"
    inside: ClassVar[str] = "tutor.checks.inside.grad"
    default_cases: ClassVar[int] = 2

    grad: Annotated[JaxExpr, Meta(description="A function: a name, or a lambda.")]
    at: Annotated[
        tuple[JaxExpr, ...], Meta(min_length=1, description="Its arguments, which may be pytrees.")
    ]
    argnums: Annotated[
        int | tuple[int, ...], Meta(description="Differentiate with respect to these.")
    ] = 0
    aux: Annotated[bool, Meta(description="Whether the function returns (value, aux).")] = False
    expect: Annotated[
        TorchExpr | None, Meta(description="PyTorch function; the same text if absent.")
    ] = None
    tol: Tolerance | None = None
    nan: Nan = False

    @property
    def title(self) -> str:
        return self.name or f"gradient of {' '.join(self.grad.split())}"

    def observe(self) -> dict[str, Any]:
        return {"function": self.grad, "at": self.at, "argnums": self.argnums, "aux": self.aux}

    def refer(self) -> dict[str, Any]:
        return {**self.observe(), "function": self.expect or self.grad}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        expected = map_leaves(_as_in_jax, expected)
        mismatch = compare(expected, observed, self.tol, times=TOLERANCE_FACTOR)
        if mismatch is None:
            return None
        return Finding(words(mismatch), mismatch, compared=(expected, observed))


def _as_in_jax(gradient: Leaf) -> Leaf:
    """Conjugate a complex gradient of PyTorch, which is the direction of steepest ascent. JAX gives
    ∂/∂x - i ∂/∂y, the derivative of a holomorphic function."""
    if gradient.array is None or gradient.array.dtype.kind != "c":
        return gradient
    return Leaf(np.conj(gradient.array), gradient.type)
