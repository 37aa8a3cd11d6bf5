"""The functions that a draw may call: `normal`, `integers`, `key` and others."""

import inspect
from collections.abc import Collection, Mapping
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
    DrawError,
    DrawFunction,
    Stream,
    array,
    in_order,
    least_and_most,
    shape_of,
    whole_numbers,
)
from tutor.tree import Leaf, Tree

CORNERS = 3
"""A Python integer is its lowest value, its highest or a random one, in turn from case to case."""


def _normal(
    source: Stream, *shape: Number, mean: float = 0, scale: float = 1, dtype: str = "float32"
) -> Leaf:
    return array(source.random.normal(mean, scale, shape_of(shape)), dtype)


def _uniform(
    source: Stream, *shape: Number, low: float = 0, high: float = 1, dtype: str = "float32"
) -> Leaf:
    return array(source.random.uniform(low, high, shape_of(shape)), dtype)


def _integers(
    source: Stream, low: Number, high: Number, *shape: Number, dtype: str = "int32"
) -> Leaf:
    in_order("integers", low, high)
    least, most = least_and_most(low, high)
    return array(whole_numbers(source, least, most, shape_of(shape)), dtype)


def _permutation(source: Stream, n: Number, *, dtype: str = "int32") -> Leaf:
    return array(source.random.permutation(*shape_of([n])), dtype)


def _bernoulli(source: Stream, *shape: Number, p: float = 0.5, dtype: str = "bool") -> Leaf:
    return array(source.random.random(shape_of(shape)) < p, dtype)


def _full(source: Stream, value: Number, *shape: Number, dtype: str = "float32") -> Leaf:
    return array(np.full(shape_of(shape), value), dtype)


def _zeros(source: Stream, *shape: Number, dtype: str = "float32") -> Leaf:
    return _full(source, 0, *shape, dtype=dtype)


def _ones(source: Stream, *shape: Number, dtype: str = "float32") -> Leaf:
    return _full(source, 1, *shape, dtype=dtype)


def _arange(source: Stream, n: Number, *, dtype: str = "float32") -> Leaf:
    return array(np.arange(*shape_of([n])), dtype)


def _key(source: Stream) -> Leaf:
    # Raw threefry key data; the sandbox wraps it into a typed key.
    return Leaf(source.random.integers(0, 2**32, 2, dtype=np.uint32), "key")


def _int(source: Stream, low: Number, high: Number) -> Leaf:
    in_order("int", low, high)
    least, most = least_and_most(low, high)
    bounds = {0: least, 1: most}
    value = bounds.get(source.corner, source.random.integers(least, most, endpoint=True))
    return Leaf(np.asarray(value, np.int64), "int")


def _float(source: Stream, low: Number, high: Number) -> Leaf:
    in_order("float", low, high)
    return Leaf(np.asarray(source.random.uniform(low, high)), "float")


def _examples(name: str) -> DrawFunction:
    def draw(source: Stream, *arguments: Number) -> Tree:
        x, y = source.datasets[name].load()
        shape = shape_of(arguments)
        count = prod(shape)
        if count > len(x):
            raise DrawError(f"there are {len(x)} {name}, not {count}")
        shape_of([*shape, *x.shape[1:]])
        rows = source.random.permutation(len(x))[:count]
        return _pair((x[rows].reshape(*shape, *x.shape[1:]), y[rows].reshape(shape)))

    return draw


def _blobs(source: Stream, n: Number, d: Number, *, classes: Number = 3, spread: float = 1) -> Tree:
    n, d = shape_of([n, d])
    if not d:
        raise DrawError("blobs needs at least one dimension")
    if not (isinstance(classes, int) and 2 <= classes <= generated.MAX_CLASSES):
        limit = generated.MAX_CLASSES
        raise DrawError(f"classes must be an integer from 2 to {limit}, got {classes!r}")
    if d > structured.MAX_ROWS:
        raise DrawError(f"{d:,} dimensions; at most {structured.MAX_ROWS} may be drawn")
    return _pair(generated.blobs(source.random, n, d, classes, _spread("spread", spread)))


def _moons(source: Stream, n: Number, *, noise: float = 0.1) -> Tree:
    n, _ = shape_of([n, 2])
    return _pair(generated.moons(source.random, n, _spread("noise", noise)))


def _plane(source: Stream, n: Number, d: Number, *, noise: float = 0.1) -> Tree:
    n, d = shape_of([n, d])
    return _pair(generated.plane(source.random, n, d, _spread("noise", noise)))


def _spread(name: str, value: float) -> float:
    if not 0 <= value <= 1e6:
        raise DrawError(f"{name} must be from 0 to 1e6, got {value:g}")
    return value


def _pair(examples: Examples) -> Tree:
    x, y = examples
    return {"x": Leaf(x, "array"), "y": Leaf(y, "array")}


class Function(NamedTuple):
    """A function that a draw may call; its parameters after the first are those of the draw.

    `least`: how many arguments there must be at least, if more than its parameters say. `dtypes`:
    those that its option `dtype` may name. `gives`: the dtypes of what it draws (for a key or
    Python number, its type), None for those of the input that it begins with. `takes`: the kind of
    that input, if it begins with one. `pytree`: whether it draws several arrays. `structured`:
    whether other numbers of the same bounds would not do in their place.
    """

    draw: DrawFunction
    usage: str
    gives: tuple[str, ...] | None = ("float32",)
    least: int = 0
    dtypes: tuple[str, ...] = DTYPES
    takes: Takes | None = None
    pytree: bool = False
    structured: bool = False

    @property
    def options(self) -> list[str]:
        """The names of its options."""
        return [name for name, one in self._parameters.items() if one.kind is one.KEYWORD_ONLY]

    def wrong_count(self, count: int) -> str:
        """Return what is wrong with this number of arguments; empty if nothing is."""
        kinds = [one.kind for one in self._parameters.values()]
        # The first parameter is the stream, which also holds the input that a draw begins with.
        named = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) - (self.takes is None)
        least = max(named, self.least)
        name = self.usage.partition("(")[0]
        if count < least:
            return f"{name} needs at least {least} arguments: {self.usage}"
        if count > least and inspect.Parameter.VAR_POSITIONAL not in kinds:
            return f"{name} takes {least} arguments: {self.usage}"
        return ""

    @property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.draw).parameters


_X_AND_Y = ("float32", "int32")

FUNCTIONS = {
    "normal": Function(_normal, "normal(*shape, mean=0, scale=1)"),
    "uniform": Function(_uniform, "uniform(*shape, low=0, high=1)"),
    "integers": Function(_integers, "integers(low, high, *shape), excluding high", ("int32",)),
    "permutation": Function(_permutation, "permutation(n)", ("int32",)),
    "bernoulli": Function(_bernoulli, "bernoulli(*shape, p=0.5)", ("bool",)),
    "zeros": Function(_zeros, "zeros(*shape)"),
    "ones": Function(_ones, "ones(*shape)"),
    "full": Function(_full, "full(value, *shape)"),
    "arange": Function(_arange, "arange(n)"),
    "key": Function(_key, "key(), a PRNG key", ("key",)),
    "int": Function(_int,
        "int(low, high), a Python int, excluding high: the bounds and others, case by case",
        ("int",)),
    "float": Function(_float, "float(low, high), a Python float", ("float",)),
    "sorted": Function(structured.sorted_rows,
        "sorted(*shape, low=0, high=1), ascending along the last axis", least=1,
        dtypes=(*FLOATS, "int32", "uint8"), structured=True),
    "one_hot": Function(structured.one_hot, "one_hot(*shape, classes)", least=1, structured=True),
    "mask": Function(structured.mask, "mask(*shape, p=0.5), with a true in every row", ("bool",),
        least=1, structured=True),
    "lengths": Function(structured.lengths, "lengths(n, longest), from 1 to longest", ("int32",)),
    "tokens": Function(structured.tokens,
        "tokens(vocabulary, *shape), ids from 1 and zeros for padding", ("int32",), least=2,
        structured=True),
    "spd": Function(structured.spd,
        "spd(*batch, n, condition=10, scale=1), symmetric positive definite", least=1,
        structured=True),
    "orthogonal": Function(structured.orthogonal, "orthogonal(*batch, n)", least=1,
        structured=True),
    "images": Function(structured.images, "images(*batch, height, width, channels), from 0 to 1",
        least=3, dtypes=(*FLOATS, "uint8"), structured=True),
    "graph": Function(structured.graph,
        "graph(nodes, edges): {'senders': (edges,), 'receivers': (edges,)}", ("int32",),
        pytree=True, structured=True),
    "sequence_mask": Function(derived.sequence_mask,
        "sequence_mask(lengths, longest), true before each length", ("bool",),
        takes=derived.INTEGERS),
    "normal_like": Function(derived.normal_like, "normal_like(input, mean=0, scale=1)",
        dtypes=(*FLOATS, "complex64"), takes=derived.ARRAYS),
    "near": Function(derived.near, "near(input, scale=0.1)", None, takes=derived.REAL),
    "shuffled": Function(derived.shuffled, "shuffled(input), the same rows in another order", None,
        takes=derived.ARRAYS),
    "blobs": Function(_blobs,
        "blobs(n, d, classes=3, spread=1): {'x': (n, d), 'y': (n,)}, groups of points", _X_AND_Y,
        pytree=True, structured=True),
    "moons": Function(_moons,
        "moons(n, noise=0.1): {'x': (n, 2), 'y': (n,)}, points on two half-circles", _X_AND_Y,
        pytree=True, structured=True),
    "plane": Function(_plane,
        "plane(n, d, noise=0.1): {'x': (n, d), 'y': (n,)}, y a linear function of x", pytree=True,
        structured=True),
}  # fmt: skip
"""All functions but the data sets, which are draws too; see `function_named`."""

GENERATED = ("blobs", "moons", "plane")
"""Functions that draw a data set: `{"x": …, "y": …}`."""


def function_named(name: str, datasets: Collection[str] = DATASETS) -> Function | None:
    """Return what a draw calls. **Arguments:** `datasets`: the names of data sets."""
    return examples_named(name) if name in datasets else FUNCTIONS.get(name)


def examples_named(dataset: str) -> Function:
    """Return the function that draws rows of a data set."""
    usage = f"{dataset}(*shape): {{'x': (*shape, features), 'y': (*shape,)}}, examples with labels"
    return Function(_examples(dataset), usage, _X_AND_Y, least=1, pytree=True)


def function_names(datasets: Collection[str] = DATASETS) -> list[str]:
    return [*FUNCTIONS, *datasets]
