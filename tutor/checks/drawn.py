"""Arrays that an expression drew for two keys."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from tutor.arrays import Array, Floats, np
from tutor.tree import Tree, leaves

MAX_ROWS = 16
"""Rows of an array that are always compared with each other."""

MIN_CONSTANT = 2048
"""Size from which random numbers are never all equal, even if 99 of 100 are."""

RANDOM_BITS = {
    "float64": 16,
    "float32": 16,
    "complex128": 16,
    "complex64": 16,
    "float16": 8,
    "bfloat16": 5,
}
"""Random bits, at least, in a number drawn from a density."""


class Drawn(NamedTuple):
    """One array of the result for two keys. `bits` of each number are random if it is drawn from
    a density; 0 for integers. `part` is `row` or `column` if it is one of a larger array."""

    name: str
    numbers: Floats
    others: Floats
    rank: int
    bits: int
    is_key: bool = False
    part: str = ""

    @property
    def varies(self) -> bool:
        return not bool((self.numbers == self.others).all())

    @property
    def constant(self) -> bool:
        """Whether all its numbers are equal."""
        return not self.numbers.size or bool((self.numbers == self.numbers.flat[0]).all())

    @property
    def suspiciously_constant(self) -> bool:
        """Whether they are too many for that to be chance: a short mask may well be all ones."""
        return self.constant and self.numbers.size >= MIN_CONSTANT

    @property
    def log_chance(self) -> float:
        """The logarithm of the probability that an independent draw repeats all these numbers."""
        if self.is_key:
            return self.numbers.size * -32 * math.log(2)
        _, counts = np.unique(self.numbers, return_counts=True)
        if self.bits and len(counts) == self.numbers.size > 1:
            return -self.numbers.size * self.bits * math.log(2)
        shares = counts / max(self.numbers.size, 1)
        return self.numbers.size * math.log(float(shares @ shares) or 1.0)


def drawn_arrays(first: Tree, other: Tree) -> list[Drawn]:
    """Return the arrays that both results have; NaN counts as a number."""
    others = {path: leaf for path, leaf in leaves(other) if leaf.array is not None}
    drawn = []
    for path, leaf in leaves(first):
        changed = others.get(path)
        if leaf.array is None or changed is None or leaf.values.shape != changed.values.shape:
            continue
        drawn.append(
            Drawn(
                f"result{path}" if path else "the result",
                np.nan_to_num(_real(leaf.values)),
                np.nan_to_num(_real(changed.values)),
                leaf.values.ndim,
                RANDOM_BITS.get(leaf.values.dtype.name, 0),
                leaf.type == "key",
            )
        )
    return drawn


def _real(array: Array) -> Floats:
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def rows(array: Drawn) -> list[Drawn]:
    """Return the first rows of an array with several axes."""
    if array.rank < 2:
        return []
    return [
        Drawn(
            f"row {i} of {array.name}",
            array.numbers[i],
            array.others[i],
            array.rank - 1,
            array.bits,
            part="row",
        )
        for i in range(min(MAX_ROWS, len(array.numbers)))
    ]


def vectors(array: Drawn) -> Iterator[Drawn]:
    """Yield the rows and columns of an array, or the array itself."""
    if array.rank < 2:
        yield array
        return
    shape = (len(array.numbers), -1)
    numbers, others = array.numbers.reshape(shape), array.others.reshape(shape)
    tables = [("row", numbers, others)]
    if array.rank == 2:
        tables.append(("column", numbers.T, others.T))
    for kind, table, changed in tables:
        for i in range(len(table)):
            name = f"{kind} {i} of {array.name}"
            yield Drawn(name, table[i], changed[i], 1, array.bits, part=kind)
