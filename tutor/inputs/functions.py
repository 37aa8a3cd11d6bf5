"""The functions that a draw may call: `normal`, `integers`, `key` and others."""

from collections.abc import Collection
from math import prod
from typing import NamedTuple

from tutor.arrays import np
from tutor.inputs import derived, generated, structured
from tutor.inputs.arithmetic import Number
from tutor.inputs.datasets import DATASETS, Examples
from tutor.inputs.derived import Takes
from tutor.inputs.drawing import (
    DTYPES,
    FLOATS,
    MAX_ELEMENTS,
    DrawError,
    DrawFunction,
    Options,
    Stream,
    array,
    in_order,
    least_and_most,
    number,
    shape_of,
    whole_numbers,
)
from tutor.tree import Leaf, Tree

__all__ = [
    "CORNERS",
    "FUNCTIONS",
    "GENERATED",
    "MAX_ELEMENTS",
    "DrawError",
    "Function",
    "Stream",
    "examples_named",
    "function_named",
    "function_names",
]

CORNERS = 3
"""A Python integer is its lowest value, its highest or a random one, in turn from case to case."""


def _normal(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    values = source.random.normal(
        number(options, "mean", 0), number(options, "scale", 1), shape_of(arguments)
    )
    return array(values, options)


def _uniform(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    values = source.random.uniform(
        number(options, "low", 0), number(options, "high", 1), shape_of(arguments)
    )
    return array(values, options)


def _integers(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    low, high, *shape = arguments
    in_order("integers", low, high)
    least, most = least_and_most(low, high)
    return array(whole_numbers(source, least, most, shape_of(shape)), options, "int32")


def _permutation(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    return array(source.random.permutation(shape_of(arguments)[0]), options, "int32")


def _bernoulli(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    values = source.random.random(shape_of(arguments)) < number(options, "p", 0.5)
    return array(values, options, "bool")


def _full(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    value, *shape = arguments
    return array(np.full(shape_of(shape), value), options)


def _zeros(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    return _full(source, [0, *arguments], options)


def _ones(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    return _full(source, [1, *arguments], options)


def _arange(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    return array(np.arange(shape_of(arguments)[0]), options)


def _key(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    # Raw threefry key data; the sandbox wraps it into a typed key.
    return Leaf(source.random.integers(0, 2**32, 2, dtype=np.uint32), "key")


def _int(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    low, high = arguments
    in_order("int", low, high)
    least, most = least_and_most(low, high)
    bounds = {0: least, 1: most}
    value = bounds.get(source.corner, source.random.integers(least, most, endpoint=True))
    return Leaf(np.asarray(value, np.int64), "int")


def _float(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    low, high = arguments
    in_order("float", low, high)
    return Leaf(np.asarray(source.random.uniform(low, high)), "float")


def _examples(name: str) -> DrawFunction:
    def draw(source: Stream, arguments: list[Number], options: Options) -> Tree:
        x, y = source.datasets[name].load()
        shape = shape_of(arguments)
        count = prod(shape)
        if count > len(x):
            raise DrawError(f"there are {len(x)} {name}, not {count}")
        shape_of([*shape, *x.shape[1:]])
        rows = source.random.permutation(len(x))[:count]
        return {
            "x": Leaf(x[rows].reshape(*shape, *x.shape[1:]), "array"),
            "y": Leaf(y[rows].reshape(shape), "array"),
        }

    return draw


def _blobs(source: Stream, arguments: list[Number], options: Options) -> Tree:
    n, d = shape_of(arguments)
    classes, spread = number(options, "classes", 3), number(options, "spread", 1)
    if not d:
        raise DrawError("blobs needs at least one dimension")
    if not (isinstance(classes, int) and 2 <= classes <= generated.MAX_CLASSES):
        limit = generated.MAX_CLASSES
        raise DrawError(f"classes must be an integer from 2 to {limit}, got {classes!r}")
    if d > structured.MAX_ROWS:
        raise DrawError(f"{d:,} dimensions; at most {structured.MAX_ROWS} may be drawn")
    return _pair(generated.blobs(source.random, n, d, classes, _spread("spread", spread)))


def _moons(source: Stream, arguments: list[Number], options: Options) -> Tree:
    n, _ = shape_of([*arguments, 2])
    noise = _spread("noise", number(options, "noise", 0.1))
    return _pair(generated.moons(source.random, n, noise))


def _plane(source: Stream, arguments: list[Number], options: Options) -> Tree:
    n, d = shape_of(arguments)
    noise = _spread("noise", number(options, "noise", 0.1))
    return _pair(generated.plane(source.random, n, d, noise))


def _spread(name: str, value: float) -> float:
    if not 0 <= value <= 1e6:
        raise DrawError(f"{name} must be from 0 to 1e6, got {value:g}")
    return value


def _pair(examples: Examples) -> Tree:
    x, y = examples
    return {"x": Leaf(x, "array"), "y": Leaf(y, "array")}


class Function(NamedTuple):
    """A function that a draw may call: `least` positional arguments, or exactly as many.

    `dtypes`: those that its option `dtype` may name. `gives`: the dtypes of what it draws (for a
    key or Python number, its type), None for those of the input that it begins with. `takes`: the
    kind of that input, if it begins with one. `pytree`: whether it draws several arrays.
    `structured`: whether other numbers of the same bounds would not do in their place.
    """

    draw: DrawFunction
    usage: str
    options: tuple[str, ...] = ()
    least: int = 0
    exact: bool = False
    dtypes: tuple[str, ...] = DTYPES
    gives: tuple[str, ...] | None = ("float32",)
    takes: Takes | None = None
    pytree: bool = False
    structured: bool = False


FUNCTIONS = {
    "normal": Function(
        _normal, "normal(*shape, mean=0, scale=1)", options=("mean", "scale", "dtype")
    ),
    "uniform": Function(
        _uniform, "uniform(*shape, low=0, high=1)", options=("low", "high", "dtype")
    ),
    "integers": Function(
        _integers,
        "integers(low, high, *shape), excluding high",
        options=("dtype",),
        least=2,
        gives=("int32",),
    ),
    "permutation": Function(
        _permutation, "permutation(n)", options=("dtype",), least=1, exact=True, gives=("int32",)
    ),
    "bernoulli": Function(
        _bernoulli, "bernoulli(*shape, p=0.5)", options=("p", "dtype"), gives=("bool",)
    ),
    "zeros": Function(_zeros, "zeros(*shape)", options=("dtype",)),
    "ones": Function(_ones, "ones(*shape)", options=("dtype",)),
    "full": Function(_full, "full(value, *shape)", options=("dtype",), least=1),
    "arange": Function(_arange, "arange(n)", options=("dtype",), least=1),
    "key": Function(_key, "key(), a PRNG key", exact=True, gives=("key",)),
    "int": Function(
        _int,
        "int(low, high), a Python int, excluding high: the bounds and others, case by case",
        least=2,
        exact=True,
        gives=("int",),
    ),
    "float": Function(
        _float, "float(low, high), a Python float", least=2, exact=True, gives=("float",)
    ),
    "sorted": Function(
        structured.sorted_rows,
        "sorted(*shape, low=0, high=1), ascending along the last axis",
        options=("low", "high", "dtype"),
        least=1,
        dtypes=(*FLOATS, "int32", "uint8"),
        structured=True,
    ),
    "one_hot": Function(
        structured.one_hot,
        "one_hot(*shape, classes)",
        options=("dtype",),
        least=1,
        structured=True,
    ),
    "mask": Function(
        structured.mask,
        "mask(*shape, p=0.5), with a true in every row",
        options=("p", "dtype"),
        least=1,
        gives=("bool",),
        structured=True,
    ),
    "lengths": Function(
        structured.lengths,
        "lengths(n, longest), from 1 to longest",
        least=2,
        exact=True,
        gives=("int32",),
    ),
    "tokens": Function(
        structured.tokens,
        "tokens(vocabulary, *shape), ids from 1 and zeros for padding",
        least=2,
        gives=("int32",),
        structured=True,
    ),
    "spd": Function(
        structured.spd,
        "spd(*batch, n, condition=10, scale=1), symmetric positive definite",
        options=("condition", "scale"),
        least=1,
        structured=True,
    ),
    "orthogonal": Function(
        structured.orthogonal, "orthogonal(*batch, n)", least=1, structured=True
    ),
    "images": Function(
        structured.images,
        "images(*batch, height, width, channels), from 0 to 1",
        options=("dtype",),
        least=3,
        dtypes=(*FLOATS, "uint8"),
        structured=True,
    ),
    "graph": Function(
        structured.graph,
        "graph(nodes, edges): {'senders': (edges,), 'receivers': (edges,)}",
        least=2,
        exact=True,
        gives=("int32",),
        pytree=True,
        structured=True,
    ),
    "sequence_mask": Function(
        derived.sequence_mask,
        "sequence_mask(lengths, longest), true before each length",
        options=("dtype",),
        least=2,
        exact=True,
        gives=("bool",),
        takes=derived.INTEGERS,
    ),
    "normal_like": Function(
        derived.normal_like,
        "normal_like(input, mean=0, scale=1)",
        options=("mean", "scale", "dtype"),
        least=1,
        exact=True,
        dtypes=(*FLOATS, "complex64"),
        takes=derived.ARRAYS,
    ),
    "near": Function(
        derived.near,
        "near(input, scale=0.1)",
        options=("scale",),
        least=1,
        exact=True,
        gives=None,
        takes=derived.REAL,
    ),
    "shuffled": Function(
        derived.shuffled,
        "shuffled(input), the same rows in another order",
        least=1,
        exact=True,
        gives=None,
        takes=derived.ARRAYS,
    ),
    "blobs": Function(
        _blobs,
        "blobs(n, d, classes=3, spread=1): {'x': (n, d), 'y': (n,)}, groups of points",
        options=("classes", "spread"),
        least=2,
        exact=True,
        gives=("float32", "int32"),
        pytree=True,
        structured=True,
    ),
    "moons": Function(
        _moons,
        "moons(n, noise=0.1): {'x': (n, 2), 'y': (n,)}, points on two half-circles",
        options=("noise",),
        least=1,
        exact=True,
        gives=("float32", "int32"),
        pytree=True,
        structured=True,
    ),
    "plane": Function(
        _plane,
        "plane(n, d, noise=0.1): {'x': (n, d), 'y': (n,)}, y a linear function of x",
        options=("noise",),
        least=2,
        exact=True,
        pytree=True,
        structured=True,
    ),
}
"""All functions but the data sets, which are draws too; see `function_named`."""

GENERATED = ("blobs", "moons", "plane")
"""Functions that draw a data set: `{"x": …, "y": …}`."""


def function_named(name: str, datasets: Collection[str] = DATASETS) -> Function | None:
    """Return what a draw calls. **Arguments:** `datasets`: the names of data sets."""
    return examples_named(name) if name in datasets else FUNCTIONS.get(name)


def examples_named(dataset: str) -> Function:
    """Return the function that draws rows of a data set."""
    usage = f"{dataset}(*shape): {{'x': (*shape, features), 'y': (*shape,)}}, examples with labels"
    gives = ("float32", "int32")
    return Function(_examples(dataset), usage, least=1, gives=gives, pytree=True)


def function_names(datasets: Collection[str] = DATASETS) -> list[str]:
    return [*FUNCTIONS, *datasets]
