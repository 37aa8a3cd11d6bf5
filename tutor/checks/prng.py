"""`prng`: randomness is explicit, reproducible, and no key is used twice."""

from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from tutor.checks.compare import compare
from tutor.lesson import Case, Check, Finding, JaxExpr
from tutor.tree import Leaf, Tree, entry, items, leaves, text

ROWS = 16
"""How many rows of an array are compared with each other."""


class Prng(Check, frozen=True, kw_only=True):
    """The same key gives the same result, another key another one; no key is consumed twice;
    different leaves (or rows) hold independent draws."""

    kind: ClassVar[str] = "prng"
    inside: ClassVar[str] = "tutor.checks.inside.prng"
    default_cases: ClassVar[int] = 1

    prng: Annotated[JaxExpr, Meta(description="An expression that draws from the key.")]
    key: Annotated[str, Meta(description="The input that is the key.")] = "key"
    independent: Annotated[
        tuple[Literal["leaves", "rows"], ...],
        Meta(description="What must be drawn independently: the arrays, the rows of each array."),
    ] = ("leaves",)

    @property
    def rounds(self) -> int:
        return 2

    def observe(self) -> dict[str, Any]:
        return {"expression": self.prng, "key": self.key}

    def judge(self, seen: Tree, expected: Tree | None, case: Case) -> Finding | None:
        for line in items(entry(seen, "reuse")):
            return Finding(f"key used twice: {text(line)[:500]}")
        if checker := text(entry(seen, "checker")):
            return Finding(f"key used twice: jax.debug_key_reuse says: {checker[:500]}")
        first, again, other = (entry(seen, name) for name in ("first", "again", "other"))
        if mismatch := compare(first, again, 0.0):
            return Finding("the same key gave two different results", mismatch)
        return (
            _ignores_key(first, other)
            or ("leaves" in self.independent and _dependent_leaves(first))
            or ("rows" in self.independent and _dependent_rows(first))
            or None
        )


def _ignores_key(first: Tree, other: Tree) -> Finding | None:
    pairs = zip(_random(first), _random(other), strict=False)
    for (path, a), (_, b) in pairs:
        if a.shape == b.shape and bool((a == b).all()):
            return Finding(f"{_named(path)} is the same for two different keys")
    return None


def _dependent_leaves(tree: Tree) -> Finding | None:
    for (path, a), (other_path, b) in combinations(_random(tree), 2):
        if r := dependent(a.ravel(), b.ravel()):
            return Finding(
                f"{_named(path)} and {_named(other_path)} are not independent draws "
                f"(correlation {r:.3f} of their first {min(a.size, b.size)} numbers): "
                "both come from the same key"
            )
    return None


def _dependent_rows(tree: Tree) -> Finding | None:
    for path, array in _random(tree):
        if array.ndim < 2:
            continue
        for i, j in combinations(range(min(ROWS, len(array))), 2):
            if r := dependent(array[i].ravel(), array[j].ravel()):
                return Finding(
                    f"rows {i} and {j} of {_named(path)} are not independent draws "
                    f"(correlation {r:.3f}): every row was drawn from the same key"
                )
    return None


def _random(tree: Tree) -> list[tuple[str, Any]]:
    """The arrays that can be random: enough numbers, not all the same (biases start at zero)."""
    import numpy as np

    found = []
    for path, leaf in leaves(tree):
        if isinstance(leaf, Leaf) and leaf.array is not None and leaf.type != "key":
            array = leaf.array
            if array.dtype.kind == "c":
                array = np.stack([array.real, array.imag], axis=-1)
            with np.errstate(invalid="ignore"):
                array = array.astype(np.float64)
            if array.size >= 8 and array.min() != array.max():
                found.append((path, array))
    return found


def dependent(a: Any, b: Any) -> float:
    """The correlation of two vectors' common beginning if it shows dependence, else 0.

    Two draws from one key start with the same bits whatever their shapes, so it is the beginning
    that is compared. The bound, six standard deviations of the correlation of independent draws,
    is passed by chance once in 10⁹; below 64 numbers only a perfect correlation counts.
    """
    import numpy as np

    n = min(len(a), len(b))
    if n < 8:
        return 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        a, b = a[:n] - a[:n].mean(), b[:n] - b[:n].mean()
        norm = float(np.sqrt((a @ a) * (b @ b)))
    if norm == 0.0 or not np.isfinite(norm):
        return 0.0
    r = float(a @ b) / norm
    bound = 0.99999 if n < 64 else 6 / n**0.5
    return r if abs(r) > bound else 0.0


def _named(path: str) -> str:
    return f"result{path}" if path else "the result"
