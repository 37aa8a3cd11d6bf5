"""Comparisons of expected and actual answers, with their inputs, for finding causes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tutor.checks.compare import compare_arrays, tolerance_for
from tutor.report import Mismatch
from tutor.tree import Leaf, Tree, leaves

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers: TypeAlias = npt.NDArray[np.float64]
else:
    Numbers = Any

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
    expected: Numbers
    actual: Numbers
    tolerance: float

    def fits(self, actual: Numbers, expected: Numbers) -> bool:
        """Return whether two arrays agree and are not all zero."""
        import numpy as np

        size = float(np.abs(expected).max(initial=0.0))
        if not size or not np.isfinite(size) or actual.shape != expected.shape:
            return False
        return bool(np.abs(actual - expected).max() <= self.tolerance * size)

    @property
    def distinct(self) -> int:
        """Number of different expected values; the order of only a few is not evidence."""
        import numpy as np

        return len(np.unique(self.expected))


class Comparison(Struct, frozen=True, eq=False):
    """An answer that differs from what was expected.

    `pairs` are the differing arrays of equal shape, `other` the first two of different shapes.
    `inputs` and `sizes` are the case's; `earlier` are the expected and actual answers of previous
    cases. `source` is the part of the learner's code that can affect the answer, `torch` that of
    the lesson's PyTorch, `elsewhere` all JAX code of learner and lesson. `others` are the paths of
    wrong arrays that are not among the pairs.
    """

    mismatch: Mismatch
    expected: Tree
    actual: Tree
    pairs: tuple[ArrayPair, ...]
    other: ArrayPair | None
    inputs: Mapping[str, Tree]
    sizes: Mapping[str, int]
    devices: int
    earlier: Sequence[Tree] = ()
    source: str = ""
    torch: str = ""
    elsewhere: str = ""
    others: tuple[str, ...] = ()

    def each(self) -> Iterator["Comparison"]:
        """Yield one comparison per differing array."""
        for pair in self.pairs:
            others = (*self.others, *(one.path for one in self.pairs if one is not pair))
            yield replace(self, pairs=(pair,), others=others)

    @property
    def arrays_expected(self) -> int:
        """How many arrays and numbers the expected answer has, right ones included."""
        return sum(1 for _ in leaves(self.expected))

    @property
    def where(self) -> str:
        """The part of the answer that is compared, for the start of a sentence."""
        paths = [pair.path for pair in self.pairs] or [self.mismatch.path]
        count = self.arrays_expected
        if count <= 1 or not all(paths) or (len(paths) == count and count > 2):
            return "The answer"
        *names, last = (f"`{path}`" for path in paths[:3])
        shown = f"{', '.join(names)} and {last}" if names else last
        if len(paths) > 3:
            shown = f"`{paths[0]}`, like {len(paths) - 1} other arrays of the answer"
        if self.pairs and not self.others and len(paths) < count and self.other is None:
            shown += " (the rest of the answer is right)"
        if len(paths) > 3:
            return f"{shown},"
        return shown if len(paths) == 1 else f"Each of {shown}"

    def arrays(self) -> list[tuple[str, Numbers]]:
        """Return the real arrays among the inputs, with their names in the learner's code."""
        return [
            (f"{name}{path}", numbers)
            for name, tree in self.inputs.items()
            for path, leaf in leaves(tree)
            if leaf.type != "key" and (numbers := real_numbers(leaf)) is not None
        ]

    def scalars(self) -> list[tuple[str, float]]:
        """Return the floats among the inputs: learning rates and limits, say."""
        return [
            (name, float(array.reshape(())))
            for name, array in self.arrays()
            if array.size == 1 and float(array.reshape(())) not in (0.0, 1.0)
        ]

    def counts(self) -> dict[int, str]:
        """Return counts that an answer may be off by, each with what it counts."""
        found: dict[int, str] = {}
        for name, size in self.sizes.items():
            found.setdefault(size, name)
        for name, array in self.arrays():
            for axis, size in enumerate(array.shape):
                found.setdefault(size, f"axis {axis} of {name}")
            found.setdefault(array.size, f"the elements of {name}")
        return {count: what for count, what in found.items() if count > 1}


def comparison(
    mismatch: Mismatch,
    expected: Tree,
    actual: Tree,
    tolerance: float | None,
    inputs: Mapping[str, Tree],
    sizes: Mapping[str, int],
    devices: int,
    earlier: Sequence[Tree] = (),
    source: str = "",
    torch: str = "",
    elsewhere: str = "",
) -> Comparison | None:
    """Return a comparison, or None if the arrays are too large."""
    expected_leaves, actual_leaves = dict(leaves(expected)), dict(leaves(actual))
    both = (*expected_leaves.values(), *actual_leaves.values())
    arrays = [leaf.array for leaf in both if leaf.array is not None]
    if sum(array.size for array in arrays) > MAX_ELEMENTS:
        return None
    pairs: list[ArrayPair] = []
    other: ArrayPair | None = None
    for path, leaf in expected_leaves.items():
        against = actual_leaves.get(path)
        if against is None or compare_arrays(leaf, against, tolerance) is None:
            continue
        one, two = real_numbers(leaf), real_numbers(against)
        if one is None or two is None or not one.size or not two.size:
            continue
        pair = ArrayPair(path, one, two, tolerance or tolerance_for(leaf))
        if one.shape == two.shape:
            pairs.append(pair)
        else:
            other = other or pair
    return Comparison(
        mismatch,
        expected,
        actual,
        tuple(pairs),
        other,
        inputs,
        sizes,
        devices,
        earlier,
        source,
        torch,
        elsewhere,
    )


def everywhere(comparison: Comparison, holds: Callable[[ArrayPair], bool]) -> Fields | None:
    """Return no fields if there are pairs and `holds` is true for all of them; else None."""
    return {} if comparison.pairs and all(map(holds, comparison.pairs)) else None


def real_numbers(leaf: Leaf) -> Numbers | None:
    """Return a leaf's numbers as float64, or None if they are not real."""
    import numpy as np

    if leaf.array is None or leaf.array.dtype.kind == "c" or leaf.type == "key":
        return None
    return leaf.array.astype(np.float64)
