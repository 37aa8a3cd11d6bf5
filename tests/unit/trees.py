"""Random trees of arrays, for the tests of everything that carries or compares them."""

from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tutor.tree import Leaf, Tree

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16"),
)
"""Every dtype that crosses between processes."""

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def dtype(name: str) -> "np.dtype[Any]":
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


@st.composite
def arrays(
    draw: st.DrawFn,
    names: tuple[str, ...] = DTYPES,
    shapes: st.SearchStrategy[tuple[int, ...]] = SHAPES,
) -> "np.ndarray[Any, Any]":
    """Any array that may cross: any bytes for its numbers, in any layout and byte order."""
    wanted = dtype(draw(st.sampled_from(names)))
    shape = draw(shapes)
    count = int(np.prod(shape, dtype=int))
    if wanted.kind == "b":
        flat = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool)
    else:
        size = count * wanted.itemsize
        flat = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), wanted)
    array = flat.reshape(shape)
    layout = draw(st.sampled_from(["as it is", "Fortran", "strided", "reversed", "big-endian"]))
    match layout:
        case "Fortran":
            return np.asfortranarray(array)
        case "strided" if array.ndim:
            doubled = np.repeat(array, 2, axis=-1)
            return doubled[..., ::2]
        case "reversed" if array.ndim:
            return array[::-1]
        case "big-endian" if array.dtype.kind != "V":
            return array.astype(array.dtype.newbyteorder(">"))
    return array


KEYS = st.one_of(st.text(max_size=6), st.integers(-(2**63), 2**64 - 1))
TYPES = st.sampled_from(
    [
        "jax.Array",
        "numpy.ndarray",
        "torch.Tensor",
        "array",
        "key",
        "int",
        "float",
        "größe ☃",
    ]
)


def leaves(values: st.SearchStrategy[Any] | None = None) -> st.SearchStrategy[Leaf]:
    return st.tuples(arrays() if values is None else values, TYPES).map(lambda it: Leaf(*it))


def trees(
    values: st.SearchStrategy[Any] | None = None, opaque: bool = True
) -> st.SearchStrategy[Tree]:
    """Any tree. `opaque`: with leaves that are no arrays."""
    ends = [st.none(), st.text(max_size=8), leaves(values)]
    if opaque:
        ends.append(leaves(st.none()))
    return st.recursive(
        st.one_of(ends),
        lambda children: st.one_of(
            st.lists(children, max_size=3),
            st.lists(children, max_size=3).map(tuple),
            st.dictionaries(KEYS, children, max_size=3),
        ),
        max_leaves=6,
    )


def identical(one: Tree, other: Tree) -> bool:
    """The same structure, types, dtypes, shapes and bits."""
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        if one.array is None or other.array is None:
            return one.array is other.array and one.type == other.type
        a, b = one.array, other.array
        little = a.astype(a.dtype.newbyteorder("<"))
        same = (a.dtype.name, a.shape, one.type) == (b.dtype.name, b.shape, other.type)
        return same and little.tobytes() == b.astype(b.dtype.newbyteorder("<")).tobytes()
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(identical(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(identical, one, other))
    return one == other
