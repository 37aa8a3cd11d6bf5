"""`prng`: randomness is explicit, reproducible, and no key is used twice."""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr
from tutor.checks.compare import compare
from tutor.checks.dependence import (
    FALSE_POSITIVE,
    MANY,
    STRUCTURE,
    Sample,
    alike,
    dependent,
    related_within,
    same_numbers,
)
from tutor.tree import Tree, entry, items, leaves, text

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

ROWS = 16
"""How many rows of an array are compared with each other, whatever they hold."""

VECTORS = 600
"""How many rows and columns of equal length are compared with each other, if they are long."""

SUSPECTS = 20
"""How many pairs of these are looked at more closely."""

KEYS = 12
"""How many keys are tried. A draw among a few seeds gives the same result for two of them."""

LOG_FALSE_POSITIVE = math.log(FALSE_POSITIVE)

EVEN = 2048
"""So many numbers are not drawn and then all the same, even where 99 of 100 are."""

BITS = {
    "float64": 16,
    "float32": 16,
    "complex128": 16,
    "complex64": 16,
    "float16": 8,
    "bfloat16": 5,
}
"""Of a number that is drawn from a density at least so many are random."""


class Prng(Check, frozen=True, kw_only=True):
    """The same key gives the same result, another key another one; no key is consumed twice;
    different leaves (or rows) hold independent draws."""

    kind: ClassVar[str] = "prng"
    inside: ClassVar[str] = "tutor.checks.inside.prng"
    default_cases: ClassVar[int] = 1

    prng: Annotated[JaxExpr, Meta(description="An expression that draws from the key.")]
    key: Annotated[str, Meta(description="The input that is the key.")] = "key"
    varies: Annotated[
        Literal["some", "all", "kernels"],
        Meta(
            description="Which arrays must be others for another key: at least one, all, or those "
            "with two axes and more, which start as different fractions where biases may be zero."
        ),
    ] = "some"
    independent: Annotated[
        tuple[Literal["leaves", "rows"], ...],
        Meta(description="What must be drawn independently: arrays; rows and columns of each."),
    ] = ("leaves",)

    @property
    def input_sets(self) -> int:
        return KEYS

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
        pairs = _pairs(first, other)
        if found := self._constant(pairs, entry(seen, "used") is not None):
            return found
        if found := _few([first, other, *items(entry(seen, "others"))]):
            return found
        if found := _shifted(first, entry(seen, "next")):
            return found
        if any(not pair.varies and not pair.even for pair in pairs):
            # Tables of constants are right; draws from a key that never changes are not.
            for line in items(entry(seen, "constant")):
                return Finding(
                    f"{text(line)[:500]} draws from a key that is the same whatever `{self.key}` is"
                )
        random = [pair for pair in pairs if pair.varies and not pair.even and not pair.is_key]
        groups = [random] if "leaves" in self.independent else []
        if "rows" in self.independent:
            groups += [_rows(pair) for pair in random]
        compared = [
            pair for group in groups for pair in combinations([_Drawn(one) for one in group], 2)
        ]
        judged = (_dependent(one, two, 2 * len(compared)) for one, two in compared)
        if found := next((finding for finding in judged if finding is not None), None):
            return found
        return self._alike(random)

    def _alike(self, random: "list[_Pair]") -> Finding | None:
        """Whether any row or column of an array depends on another, or on another array."""
        groups: dict[int, list[tuple[int, _Pair]]] = {}
        for number, pair in enumerate(random):
            for vector in _vectors(pair):
                groups.setdefault(vector.numbers.size, []).append((number, vector))
        for length, group in groups.items():
            if length < MANY or len(group) < 2:
                continue
            group = group[:: -(-len(group) // VECTORS)]
            rate = FALSE_POSITIVE / 2 / len(groups)
            found = alike([vector.numbers for _, vector in group], rate)
            pairs = len(group) * (len(group) - 1) // 2
            for i, j in found[:SUSPECTS]:
                what = "rows" if group[i][0] == group[j][0] else "leaves"
                if what in self.independent:
                    one, two = _Drawn(group[i][1]), _Drawn(group[j][1])
                    if finding := _dependent(one, two, 2 * pairs * len(groups)):
                        return finding
        return None

    def _constant(self, pairs: "list[_Pair]", used: bool) -> Finding | None:
        """What does not depend on the key although it should; see `varies`.

        **Arguments:** `used`: whether the key was seen to be consumed.
        """
        alike = sum(pair.log_chance for pair in pairs) < LOG_FALSE_POSITIVE
        if not any(pair.varies for pair in pairs) and (alike or not used):
            return Finding("nothing in the result depends on the key")
        if pairs and all(pair.even for pair in pairs) and any(pair.too_even for pair in pairs):
            return Finding("nothing in the result is random: all numbers of an array are the same")
        for pair in pairs:
            kernel = self.varies == "kernels" and pair.rank > 1
            if self.varies != "all" and not kernel:
                continue
            if not pair.varies and pair.log_chance < LOG_FALSE_POSITIVE:
                return Finding(f"{pair.name} is the same for two different keys")
            if pair.too_even or (kernel and pair.even and pair.numbers.size > 1):
                return Finding(f"all numbers of {pair.name} are the same")
        return None


class _Pair(NamedTuple):
    """One array of the result, for two keys. `name` is what it is called, `bits` how many of a
    number are random if it is drawn from a density, 0 for whole numbers."""

    name: str
    numbers: "Floats"
    others: "Floats"
    rank: int
    bits: int
    is_key: bool = False

    @property
    def varies(self) -> bool:
        return not bool((self.numbers == self.others).all())

    @property
    def even(self) -> bool:
        """Whether all its numbers are the same."""
        return not self.numbers.size or bool((self.numbers == self.numbers.flat[0]).all())

    @property
    def too_even(self) -> bool:
        """Whether they are, and are too many for that to be chance: a mask may well be all ones."""
        return self.even and self.numbers.size >= EVEN

    @property
    def log_chance(self) -> float:
        """How often independent draws of such numbers are all the same as these, its logarithm."""
        import numpy as np

        if self.is_key:
            return self.numbers.size * -32 * math.log(2)
        _, counts = np.unique(self.numbers, return_counts=True)
        if self.bits and len(counts) == self.numbers.size > 1:
            return -self.numbers.size * self.bits * math.log(2)
        shares = counts / max(self.numbers.size, 1)
        return self.numbers.size * math.log(float(shares @ shares) or 1.0)


def _pairs(first: Tree, other: Tree) -> "list[_Pair]":
    """The arrays that both results have; NaN counts as a number."""
    import numpy as np

    against = {path: leaf for path, leaf in leaves(other) if leaf.array is not None}
    found = []
    for path, leaf in leaves(first):
        two = against.get(path)
        if leaf.array is None or two is None or leaf.values.shape != two.values.shape:
            continue
        found.append(
            _Pair(
                f"result{path}" if path else "the result",
                np.nan_to_num(_real(leaf.values)),
                np.nan_to_num(_real(two.values)),
                leaf.values.ndim,
                BITS.get(leaf.values.dtype.name, 0),
                leaf.type == "key",
            )
        )
    return found


def _real(array: "np.ndarray[Any, Any]") -> "Floats":
    import numpy as np

    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def _rows(pair: _Pair) -> list[_Pair]:
    if pair.rank < 2:
        return []
    return [
        _Pair(f"row {i} of {pair.name}", pair.numbers[i], pair.others[i], pair.rank - 1, pair.bits)
        for i in range(min(ROWS, len(pair.numbers)))
    ]


def _vectors(pair: _Pair) -> Iterator[_Pair]:
    """Its rows, its columns, or itself."""
    if pair.rank < 2:
        yield pair
        return
    shape = (len(pair.numbers), -1)
    numbers, others = pair.numbers.reshape(shape), pair.others.reshape(shape)
    ways = [("row", numbers, others)]
    if pair.rank == 2:
        ways.append(("column", numbers.T, others.T))
    for what, table, changed in ways:
        for i in range(len(table)):
            yield _Pair(f"{what} {i} of {pair.name}", table[i], changed[i], 1, pair.bits)


def _few(results: list[Tree]) -> Finding | None:
    """Whether different keys give the same result although that cannot be chance."""
    bytes_of = [
        {path: leaf.values.tobytes() for path, leaf in leaves(result) if leaf.array is not None}
        for result in results
    ]
    varying = {path for path in bytes_of[0] if len({one.get(path) for one in bytes_of}) > 1}
    names = {f"result{path}" if path else "the result" for path in varying}
    limit = math.log(FALSE_POSITIVE / math.comb(len(results), 2))
    for i, j in combinations(range(len(results)), 2):
        if not varying or any(bytes_of[i].get(path) != bytes_of[j].get(path) for path in varying):
            continue
        random = [pair for pair in _pairs(results[i], results[j]) if pair.name in names]
        if sum(pair.log_chance for pair in random) < limit:
            return Finding(
                f"two of {len(results)} different keys gave the same result: "
                "it must depend on the whole key"
            )
    return None


def _shifted(first: Tree, following: Tree) -> Finding | None:
    """Whether one key gives in one place what the key after it gives in another: keys that are
    counted up, and not split, come up again in the next seed's."""
    pairs = _pairs(first, following)
    varying = {pair.name for pair in pairs if pair.varies and pair.log_chance < LOG_FALSE_POSITIVE}
    theirs = {
        (leaf.values.shape, _real(leaf.values).tobytes()): f"result{path}"
        for path, leaf in leaves(following)
        if leaf.array is not None
    }
    for path, leaf in leaves(first):
        name = f"result{path}"
        if name not in varying:
            continue
        found = theirs.get((leaf.values.shape, _real(leaf.values).tobytes()))
        if found is not None:
            return Finding(
                f"{name} for one key is {found} for the next one: keys that are counted up are "
                "those of other seeds; split or fold_in gives keys of their own"
            )
    return None


class _Drawn:
    """What is compared of a pair."""

    def __init__(self, pair: _Pair) -> None:
        self.name = pair.name
        self.sample, self.other = Sample(pair.numbers), Sample(pair.others)


def _dependent(one: _Drawn, two: _Drawn, comparisons: int) -> Finding | None:
    a, b = one.sample, two.sample
    r = dependent(a, b, FALSE_POSITIVE / comparisons)
    if not r:
        if same_numbers(a, b):
            return Finding(f"{one.name} and {two.name} hold the same numbers in another order")
        return None
    if related_within(a) or related_within(b):
        return None
    if dependent(a, two.other, STRUCTURE):
        return None  # they agree for different keys, too
    count = min(a.numbers.size, b.numbers.size)
    return Finding(
        f"{one.name} and {two.name} are not independent draws (rank correlation {r:.3f} of their "
        f"first {count} numbers): both come from the same key, or one from the other"
    )
