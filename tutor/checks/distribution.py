"""`distribution`: numbers are drawn from a named distribution."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta, field

from tutor.arrays import np
from tutor.check import Case, Check, Finding, JaxExpr
from tutor.checks.families import Family, parse
from tutor.checks.goodness import looks_like, unlike
from tutor.foreign.plain_text import cut
from tutor.tree import Leaf, Tree, TreeError, brief, leaves


class Distribution(Check, frozen=True, kw_only=True):
    """Every array of the answer holds independent draws from the distribution in `is`.

    The sandbox returns the numbers and `tutor.checks.goodness` tests them here: a right answer
    fails once in 10⁹ checks. More numbers show smaller differences: 10,000 a spread 5 % off.
    """

    kind: ClassVar[str] = "distribution"
    inside: ClassVar[str] = "tutor.checks.inside.value"
    default_cases: ClassVar[int] = 1

    distribution: Annotated[
        JaxExpr, Meta(description="The draws themselves, not a statistic of them.")
    ]
    is_: Annotated[
        Any,
        Meta(
            description="Such as `normal(0, 1)` or `uniform(-1 / n**0.5, 1 / n**0.5)`, for every "
            "array of the answer, or a mapping or list of them.",
            extra={"holds": "distribution"},
        ),
    ] = field(name="is")

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        if not any(True for _ in leaves(observed)):
            return Finding(f"found {cut(brief(observed), 400)}, expected arrays of random numbers")
        return _judge(observed, self.is_, case.sizes, "")


def _judge(observed: Tree, spec: Any, sizes: dict[str, int], path: str) -> Finding | None:
    """Walk the answer and its specification together."""
    if isinstance(spec, str):
        family = parse(spec).at(sizes)
        findings = (_unlike(leaf, family, f"{path}{below}") for below, leaf in leaves(observed))
        return next(filter(None, findings), None)
    keys = list(spec) if isinstance(spec, dict) else list(range(len(spec)))
    container = (
        isinstance(observed, dict) if isinstance(spec, dict) else isinstance(observed, list | tuple)
    )
    if not container or len(observed) != len(keys):  # type: ignore[arg-type]
        where = f"{path}: " if path else ""
        return Finding(f"{where}found {cut(brief(observed), 400)}, expected {len(keys)} items")
    for key in keys:
        try:
            child = observed[key]  # type: ignore[index]
        except KeyError:
            raise TreeError(f"expected an entry {key!r}") from None
        if finding := _judge(child, spec[key], sizes, f"{path}[{key!r}]"):
            return finding
    return None


def _unlike(leaf: Leaf, family: Family, path: str) -> Finding | None:
    where = f"{path}: " if path else ""
    values = leaf.values
    if values.dtype.kind == "c" or leaf.type == "key":
        return Finding(f"{where}found {brief(leaf)}, expected real numbers")
    numbers, epsilon = values.astype(np.float64), _epsilon(values.dtype)
    reason = unlike(numbers, family, epsilon)
    if not reason:
        return None
    guess = looks_like(numbers, epsilon)
    return Finding(f"{where}not drawn from {family.name}: {reason}{guess and f'; {guess}'}")


def _epsilon(dtype: "np.dtype[Any]") -> float:
    """Return the spacing of numbers around 1; 1 for integers."""
    if dtype.kind in "biu":
        return 1.0
    if dtype.kind == "f":
        return float(np.finfo(dtype.type).eps)
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps)  # type: ignore[no-untyped-call]
