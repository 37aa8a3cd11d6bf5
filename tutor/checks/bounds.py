"""`bounds`: numbers lie between bounds, and optionally in order."""

import ast
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from tutor.arrays import np
from tutor.check import Case, Check, Finding, JaxExpr
from tutor.checks.compare import apart, number
from tutor.foreign.plain_text import quoted_code
from tutor.inputs import arithmetic
from tutor.syntax_tree import expression_tree
from tutor.tree import Leaf, Tree, TreeError, leaves


class Bounds(Check, frozen=True, kw_only=True):
    """Every number of the answer is finite and from `least` to `most`; along the first axis of each
    array the numbers are in `order`."""

    kind: ClassVar[str] = "bounds"
    inside: ClassVar[str] = "tutor.checks.inside.value"
    default_cases: ClassVar[int] = 2

    bounds: Annotated[JaxExpr, Meta(description="Expression to evaluate with the learner's code.")]
    least: Annotated[
        float | str | None,
        Meta(description="Lower bound: a number, or arithmetic with sizes.",
             extra={"holds": "number"}),
    ] = None  # fmt: skip
    most: Annotated[
        float | str | None, Meta(description="Upper bound.", extra={"holds": "number"})
    ] = None
    order: Annotated[
        Literal["ascending", "descending"] | None,
        Meta(description="Order along the first axis; equal numbers are in order."),
    ] = None

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        arrays = list(leaves(observed))
        if not arrays:
            raise TreeError("expected arrays of numbers")
        least, most = (bound(one, case.sizes) for one in (self.least, self.most))
        judged = (self._judge(leaf, path, least, most) for path, leaf in arrays)
        return next(filter(None, judged), None)

    def _judge(
        self, leaf: Leaf, path: str, least: float | None, most: float | None
    ) -> Finding | None:
        values = leaf.values
        if values.dtype.kind == "c" or leaf.type == "key":
            raise TreeError("expected real numbers")
        where = f"{quoted_code(self.bounds)}{path}"
        with np.errstate(invalid="ignore"):  # some NaN
            numbers = values.astype(np.float64)
        for reason, limit, mask in (
            ("not finite", None, ~np.isfinite(numbers)),
            ("below", least, numbers < (-np.inf if least is None else least)),
            ("above", most, numbers > (np.inf if most is None else most)),
        ):
            if not mask.any():
                continue
            at = tuple(int(i) for i in np.argwhere(mask)[0])
            shown, bound = number(values[at]), ""
            if limit is not None:
                shown, bound = apart(values[at], limit)
            if not values.ndim:
                return Finding(f"{where} is {shown}, which is {reason} {bound}".rstrip())
            count = f"{int(mask.sum())} of {mask.size} numbers are"
            return Finding(
                f"{where}: {shown} at {list(at)} is {reason} {bound}".rstrip() + f" ({count})"
            )
        if self.order is not None and numbers.ndim:
            steps = np.diff(numbers, axis=0) * (1 if self.order == "ascending" else -1)
            if (steps < 0).any():
                at = tuple(int(i) for i in np.argwhere(steps < 0)[0])
                after = (at[0] + 1, *at[1:])
                first, then = apart(values[at], values[after])
                return Finding(
                    f"{where} is not in {self.order} order: {first} at {list(at)}, then {then}"
                )
        return None


def bound(text: float | str | None, sizes: dict[str, int]) -> float | None:
    """Return the value of a bound. Raises: ArithmeticFault: the bound is not arithmetic, or has no
    value."""
    if not isinstance(text, str):
        return text
    return float(arithmetic.value(parsed(text), sizes))


def parsed(text: str) -> ast.expr:
    """Parse a bound. Raises: tutor.inputs.arithmetic.ArithmeticFault: it is not arithmetic."""
    try:
        tree = expression_tree(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise arithmetic.ArithmeticFault("must be a number or arithmetic with sizes") from None
    return arithmetic.checked(tree)
