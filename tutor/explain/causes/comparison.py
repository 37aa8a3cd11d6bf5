"""What a cause is looked for in: expected and actual, and what the answer was made from."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

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
"""What a cause fills into a rule's texts."""

MAX_ELEMENTS = 1 << 18
"""Of all arrays together; guesses about more would take longer than they are worth."""


class ArrayPair(Struct, frozen=True, eq=False):
    """Two real arrays of one shape that should agree and do not.

    `tolerance` is relative to the largest expected number: stricter than a check, which also
    allows what is small beside 1, for where everything is small anything would fit.
    """

    path: str
    expected: Numbers
    actual: Numbers
    tolerance: float

    def fits(self, actual: Numbers, expected: Numbers) -> bool:
        """Whether two arrays agree, and there is something to agree about."""
        import numpy as np

        size = float(np.abs(expected).max(initial=0.0))
        if not size or not np.isfinite(size) or actual.shape != expected.shape:
            return False
        return bool(np.abs(actual - expected).max() <= self.tolerance * size)

    @property
    def distinct(self) -> int:
        """How many different numbers are expected: the order of a few tells nothing."""
        import numpy as np

        return len(np.unique(self.expected))


class Comparison(Struct, frozen=True, eq=False):
    """An answer that differs from what was expected.

    `pairs` are the arrays that differ though they have the same shape, `other` the first two of
    different shapes. `inputs` are those of the case, `sizes` its named dimensions; `earlier` is
    what was expected, and came, in the cases before. `source` is the learner's code that the answer
    can come from.
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

    def arrays(self) -> list[tuple[str, Numbers]]:
        """The real arrays among the inputs, by what the learner calls them."""
        return [
            (f"{name}{path}", numbers)
            for name, tree in self.inputs.items()
            for path, leaf in leaves(tree)
            if leaf.type != "key" and (numbers := real_numbers(leaf)) is not None
        ]

    def counts(self) -> dict[int, str]:
        """Numbers that an answer may be wrong by, each with what there are so many of."""
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
) -> Comparison | None:
    """None if there is too much to compare."""
    wanted, found = dict(leaves(expected)), dict(leaves(actual))
    arrays = [leaf.array for leaf in (*wanted.values(), *found.values()) if leaf.array is not None]
    if sum(array.size for array in arrays) > MAX_ELEMENTS:
        return None
    pairs: list[ArrayPair] = []
    other: ArrayPair | None = None
    for path, leaf in wanted.items():
        against = found.get(path)
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
        mismatch, expected, actual, tuple(pairs), other, inputs, sizes, devices, earlier, source
    )


def everywhere(comparison: Comparison, holds: Callable[[ArrayPair], bool]) -> Fields | None:
    """No fields if something holds for every pair, and there is one; else None."""
    return {} if comparison.pairs and all(map(holds, comparison.pairs)) else None


def real_numbers(leaf: Leaf) -> Numbers | None:
    """A leaf's numbers, if they are real."""
    import numpy as np

    if leaf.array is None or leaf.array.dtype.kind == "c" or leaf.type == "key":
        return None
    return leaf.array.astype(np.float64)
