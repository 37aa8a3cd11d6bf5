"""`grad`: a gradient of the learner's function equals PyTorch autograd's."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.checks.compare import compare, words
from tutor.lesson import Case, Check, Finding, JaxExpr, Tolerance, TorchExpr
from tutor.tree import Tree

GRADIENT_TOLERANCE = 2e-5
"""Scaled error; twice that of values, for a gradient sums over more."""


class Grad(Check, frozen=True, kw_only=True):
    """`jax.grad(grad, argnums)(*at)` equals `torch.autograd.grad` of `expect` there."""

    kind: ClassVar[str] = "grad"
    inside: ClassVar[str] = "tutor.checks.inside.grad"
    default_cases: ClassVar[int] = 2

    grad: Annotated[JaxExpr, Meta(description="A function: a name, or a lambda.")]
    at: Annotated[
        tuple[JaxExpr, ...], Meta(min_length=1, description="Its arguments; pytrees welcome.")
    ]
    argnums: Annotated[
        int | tuple[int, ...], Meta(description="Differentiate with respect to these.")
    ] = 0
    aux: Annotated[bool, Meta(description="The function returns (value, something else).")] = False
    expect: Annotated[
        TorchExpr | None,
        Meta(description="The function, asked of the PyTorch; the same text if left out."),
    ] = None
    tol: Tolerance = GRADIENT_TOLERANCE

    @property
    def title(self) -> str:
        return self.name or f"gradient of {' '.join(self.grad.split())}"

    def observe(self) -> dict[str, Any]:
        return {"function": self.grad, "at": self.at, "argnums": self.argnums, "aux": self.aux}

    def refer(self) -> dict[str, Any]:
        return {**self.observe(), "function": self.expect or self.grad}

    def judge(self, seen: Tree, expected: Tree | None, case: Case) -> Finding | None:
        mismatch = compare(expected, seen, self.tol)
        if mismatch is None:
            return None
        return Finding(words(mismatch), mismatch, compared=(expected, seen))
