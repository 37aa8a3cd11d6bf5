"""Comparisons of expected and actual answers, with their inputs, for finding causes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tutor.arrays import Floats, np
from tutor.checks.compare import compare, tolerance_for
from tutor.report import Mismatch
from tutor.tree import Leaf, Tree, leaves

Fields = dict[str, str]
"""Values of a cause for a rule's texts."""

MAX_ELEMENTS = 1 << 18
"""Limit of all arrays together; larger ones would take too long."""


class ArrayPair(Struct, frozen=True, eq=False):
    """Two real arrays that should agree and do not.

    `tolerance` is relative to the largest expected number, which is stricter than a check's: that
    accepts any error far below 1, so anything would fit small numbers.
    """

    path: str
    expected: Floats
    actual: Floats
    tolerance: float

    def fits(self, actual: Floats, expected: Floats) -> bool:
        """Return whether two arrays agree and are not all zero."""
        size = float(np.abs(expected).max(initial=0.0))
        if not size or not np.isfinite(size) or actual.shape != expected.shape:
            return False
        return bool(np.abs(actual - expected).max() <= self.tolerance * size)

    @property
    def wrong(self) -> Any:
        """A mask of the numbers that are wrong, on the scale of the expected ones."""
        size = float(np.abs(self.expected[np.isfinite(self.expected)]).max(initial=0.0))
        same = np.abs(self.actual - self.expected) <= self.tolerance * size
        return ~(same | (self.actual == self.expected))

    @property
    def distinct(self) -> int:
        """Number of different expected values; the order of only a few is not evidence."""
        return len(np.unique(self.expected))


class Comparison(Struct, frozen=True, eq=False):
    """An answer that differs from what was expected.

    `pairs` are the differing arrays of equal shape, `other` the first two of different shapes.
    `inputs` are the case's. `source` is the part of the learner's code that can affect
    the answer. `others` are the paths of wrong arrays that are not among the pairs.
    """

    mismatch: Mismatch
    expected: Tree
    actual: Tree
    pairs: tuple[ArrayPair, ...]
    other: ArrayPair | None
    inputs: Mapping[str, Tree]
    devices: int
    source: str = ""
    others: tuple[str, ...] = ()

    def each(self) -> Iterator["Comparison"]:
        """Yield one comparison per differing array."""
        for pair in self.pairs:
            others = (*self.others, *(one.path for one in self.pairs if one is not pair))
            yield replace(self, pairs=(pair,), others=others)

    @property
    def where(self) -> str:
        """The part of the answer that is compared, for the start of a sentence."""
        paths = [pair.path for pair in self.pairs] or [self.mismatch.path]
        count = sum(1 for _ in leaves(self.expected))
        if count <= 1 or not all(paths) or len(paths) == count > 2:
            return "The answer"
        *names, last = (f"`{path}`" for path in paths[:3])
        if len(paths) > 3:
            return f"`{paths[0]}`, like {len(paths) - 1} other arrays of the answer,"
        return f"Each of {', '.join(names)} and {last}" if names else last

    def right(self) -> Iterator[tuple[str, Floats]]:
        """Yield the real arrays that the answer has right, by path."""
        wrong = {pair.path for pair in self.pairs} | set(self.others)
        for path, leaf in leaves(self.expected):
            if path not in wrong and (numbers := real_numbers(leaf)) is not None:
                yield path, numbers

    def arrays(self) -> list[tuple[str, Floats]]:
        """Return the real arrays among the inputs, with their names in the learner's code."""
        return [
            (f"{name}{path}", numbers)
            for name, tree in self.inputs.items()
            for path, leaf in leaves(tree)
            if leaf.type != "key" and (numbers := real_numbers(leaf)) is not None
        ]

    def scalars(self) -> list[tuple[str, float]]:
        """Return the numbers among the inputs that may be a factor: learning rates, say."""
        return [
            (name, float(array.reshape(())))
            for name, array in self.arrays()
            if array.size == 1 and float(array.reshape(())) not in (0.0, 1.0)
        ]

    def counts(self) -> dict[int, str]:
        """Return counts that an answer may be off by, each with what it counts, by names that the
        learner has."""
        found: dict[int, str] = {self.devices: "the number of devices"}
        for name, number in self.scalars():
            if number.is_integer():
                found.setdefault(int(number), f"`{name}`")
        for name, array in self.arrays():
            for axis, size in enumerate(array.shape):
                found.setdefault(size, f"the length of axis {axis} of `{name}`")
            found.setdefault(array.size, f"the number of elements of `{name}`")
        if self.devices > 1:
            for name, array in self.arrays():
                for axis, size in enumerate(array.shape):
                    share = f"a device's share of axis {axis} of `{name}`"
                    if size % self.devices == 0:
                        found.setdefault(size // self.devices, share)
        return {count: what for count, what in found.items() if count > 1}


def comparison(
    mismatch: Mismatch,
    expected: Tree,
    actual: Tree,
    tolerance: float | None,
    inputs: Mapping[str, Tree],
    devices: int,
    source: str = "",
) -> Comparison | None:
    """Return a comparison, or None if the arrays are too large."""
    expected_leaves, actual_leaves = dict(leaves(expected)), dict(leaves(actual))
    both = (*expected_leaves.values(), *actual_leaves.values())
    if sum(leaf.array.size for leaf in both if leaf.array is not None) > MAX_ELEMENTS:
        return None
    pairs: list[ArrayPair] = []
    other: ArrayPair | None = None
    for path, leaf in expected_leaves.items():
        against = actual_leaves.get(path)
        if against is None or compare(leaf, against, tolerance) is None:
            continue
        one, two = real_numbers(leaf), real_numbers(against)
        if one is None or two is None or not one.size or not two.size:
            continue
        pair = ArrayPair(path, one, two, tolerance or tolerance_for(leaf))
        if one.shape == two.shape:
            pairs.append(pair)
        else:
            other = other or pair
    return Comparison(mismatch, expected, actual, tuple(pairs), other, inputs, devices, source)


def everywhere(comparison: Comparison, holds: Callable[[ArrayPair], bool]) -> Fields | None:
    """Return no fields if there are pairs and `holds` is true for all of them; else None."""
    return {} if comparison.pairs and all(map(holds, comparison.pairs)) else None


def alike(comparison: Comparison, find: Callable[[ArrayPair], Fields | None]) -> Fields | None:
    """Return the fields if `find` returns the same ones for every pair; else None."""
    found = [find(pair) for pair in comparison.pairs]
    return found[0] if found and all(one == found[0] for one in found) else None


def real_numbers(leaf: Leaf) -> Floats | None:
    """Return a leaf's numbers as float64, or None if they are not real."""
    if leaf.array is None or leaf.array.dtype.kind == "c" or leaf.type == "key":
        return None
    return leaf.array.astype(np.float64)
