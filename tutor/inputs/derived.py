"""Draws that begin with the name of another input: `normal_like(params)`, `near(x)` and others."""

from collections.abc import Iterable
from typing import NamedTuple

from tutor.arrays import Array, np
from tutor.inputs.arithmetic import Number
from tutor.inputs.drawing import DTYPES, FLOATS, DrawError, Stream, array, shape_of
from tutor.tree import Leaf, Tree, leaves, map_leaves


class Takes(NamedTuple):
    """The kind of input that a draw begins with: in words, the dtypes of its arrays, and whether it
    must be one array instead of a pytree."""

    words: str
    dtypes: tuple[str, ...]
    single: bool = False

    def fault_in(self, name: str, dtypes: Iterable[str], single: bool) -> str:
        """Return what is wrong with an input of these dtypes; empty if nothing is."""
        wrong = sorted(set(dtypes) - set(self.dtypes))
        if self.single and not single:
            return f"it takes {self.words}; {name!r} is a pytree"
        found = " and ".join(_WORDS.get(dtype, dtype) for dtype in wrong)
        return f"it takes {self.words}; {name!r} is {found}" if wrong else ""


_WORDS = {"key": "a PRNG key", "int": "a Python int", "float": "a Python float"}

INTEGERS = Takes("an array of integers", ("int32", "uint8"), single=True)
REAL = Takes("arrays of real or complex numbers", (*FLOATS, "complex64"))
ARRAYS = Takes("arrays", DTYPES)


def dtype_of(leaf: Leaf) -> str:
    """Return the name of a drawn leaf's dtype; for a key or Python number, that of its type."""
    return leaf.values.dtype.name if leaf.type == "array" else leaf.type


def sequence_mask(source: Stream, longest: Number, *, dtype: str = "bool") -> Leaf:
    (length,) = shape_of([longest])
    assert isinstance(source.given, Leaf)
    values = source.given.values.astype(np.int64)
    shape_of([*values.shape, length])
    wrong = values[(values < 0) | (values > length)]
    if wrong.size:
        raise DrawError(f"a length must be from 0 to {length}, got {wrong.flat[0]}")
    return array(np.arange(length) < values[..., None], dtype)


def normal_like(source: Stream, *, mean: float = 0, scale: float = 1, dtype: str = "") -> Tree:
    def other(leaf: Leaf) -> Leaf:
        found = dtype_of(leaf)
        wanted = dtype or (found if found in REAL.dtypes else "float32")
        return array(mean + _noise(source, leaf.values.shape, wanted, scale), wanted)

    return map_leaves(other, source.given)


def near(source: Stream, *, scale: float = 0.1) -> Tree:
    def other(leaf: Leaf) -> Leaf:
        dtype = dtype_of(leaf)
        noise = _noise(source, leaf.values.shape, dtype, scale)
        return array(leaf.values.astype(noise.dtype) + noise, dtype)

    return map_leaves(other, source.given)


def shuffled(source: Stream) -> Tree:
    """All arrays of a pytree get the same order, so that rows that belong together stay so."""
    shapes = [leaf.values.shape for _, leaf in leaves(source.given)]
    rows = {shape[0] if shape else None for shape in shapes}
    if None in rows or len(rows) != 1:
        raise DrawError(f"shuffled needs arrays with the same number of rows, got {shapes}")
    (count,) = rows
    assert count is not None
    order = source.random.permutation(count)
    if count > 1 and (order == np.arange(count)).all():
        order = np.roll(order, 1)
    return map_leaves(lambda leaf: Leaf(leaf.values[order], leaf.type), source.given)


def _noise(source: Stream, shape: tuple[int, ...], dtype: str, scale: Number) -> Array:
    """Return normal numbers, real or complex, of this standard deviation."""
    if dtype != "complex64":
        return source.random.normal(scale=scale, size=shape)
    real, imaginary = source.random.normal(scale=scale / 2**0.5, size=(2, *shape))
    noise: Array = real + 1j * imaginary
    return noise
