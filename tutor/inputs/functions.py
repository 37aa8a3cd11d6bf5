"""The functions that a draw may call: `normal`, `integers`, `key` and others."""

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tutor.inputs.arithmetic import ArithmeticFault, Number
from tutor.inputs.datasets import DATASETS, Dataset
from tutor.tree import Leaf, Tree

if TYPE_CHECKING:
    import numpy as np

MAX_ELEMENTS = 4_000_000
"""Elements of one drawn array: 16 MB of float32."""


class DrawError(ArithmeticFault):
    """An invalid draw; `column` counts from 0 within its text."""


CORNERS = 3
"""A Python integer is its lowest value, its highest or a random one, in turn from case to case."""


class Stream(NamedTuple):
    """The source of a draw's values. `corner` counts the cases; `first` marks the first one."""

    random: "np.random.Generator"
    corner: int
    first: bool


Options: TypeAlias = "dict[str, Number | str]"
DrawFunction: TypeAlias = "Callable[[Stream, list[Number], Options], Tree]"

DTYPES = ("float32", "float16", "bfloat16", "int32", "uint8", "bool", "complex64")


def _shape(arguments: list[Number]) -> tuple[int, ...]:
    shape = []
    total = 1
    for size in arguments:
        if not isinstance(size, int) or size < 0:
            raise DrawError(f"a dimension must be an integer from 0 up, got {size!r}")
        shape.append(size)
        total *= max(size, 1)  # NumPy refuses (0, 2**60) as well
    if total > MAX_ELEMENTS:
        raise DrawError(f"{total:,} elements; at most {MAX_ELEMENTS:,} may be drawn")
    return tuple(shape)


def _number(options: Options, name: str, default: float) -> float:
    value = options.get(name, default)
    assert not isinstance(value, str), "parse() refuses text here"
    return value


def _array(values: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]", options: Options) -> Leaf:
    import numpy as np

    name = str(options.get("dtype", "float32"))
    if name == "bfloat16":
        import ml_dtypes

        return Leaf(values.astype(ml_dtypes.bfloat16), "array")
    return Leaf(np.asarray(values).astype(name), "array")


def _normal(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    values = source.random.normal(
        _number(options, "mean", 0), _number(options, "scale", 1), _shape(arguments)
    )
    return _array(values, options)


def _uniform(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    values = source.random.uniform(
        _number(options, "low", 0), _number(options, "high", 1), _shape(arguments)
    )
    return _array(values, options)


def _in_order(name: str, low: Number, high: Number) -> None:
    if high < low:
        raise DrawError(f"{name}({low:g}, {high:g}): the second number is below the first")


def _integers(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    low, high, *shape = arguments
    _in_order("integers", low, high)
    least, most = int(low), max(int(high), int(low) + 1) - 1
    # Some wrong answers fail only if a bound is drawn, others only if it is not.
    inner = 0 if source.first or most - least < 2 else 1
    values = source.random.integers(least + inner, most - inner, _shape(shape), endpoint=True)
    if values.size > 1 and not inner:
        values.flat[source.random.choice(values.size, 2, replace=False)] = least, most
    return _array(values, {"dtype": "int32", **options})


def _permutation(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    return _array(source.random.permutation(_shape(arguments)[0]), {"dtype": "int32", **options})


def _bernoulli(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    values = source.random.random(_shape(arguments)) < _number(options, "p", 0.5)
    return _array(values, {"dtype": "bool", **options})


def _full(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    value, *shape = arguments
    return _array(np.full(_shape(shape), value), options)


def _zeros(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    return _full(source, [0, *arguments], options)


def _ones(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    return _full(source, [1, *arguments], options)


def _arange(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    return _array(np.arange(_shape(arguments)[0]), options)


def _key(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    # Raw threefry key data; the sandbox wraps it into a typed key.
    return Leaf(source.random.integers(0, 2**32, 2, dtype=np.uint32), "key")


def _int(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    low, high = int(arguments[0]), int(arguments[1])
    _in_order("int", low, high)
    bounds = {0: low, 1: high}
    value = bounds.get(source.corner, source.random.integers(low, high, endpoint=True))
    return Leaf(np.asarray(value, np.int64), "int")


def _float(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    low, high = arguments
    _in_order("float", low, high)
    return Leaf(np.asarray(source.random.uniform(low, high)), "float")


def _examples(dataset: Dataset) -> DrawFunction:
    def draw(source: Stream, arguments: list[Number], options: Options) -> Tree:
        x, y = dataset.load()
        shape = _shape(arguments)
        count = prod(shape)
        if count > len(x):
            raise DrawError(f"there are {len(x)} {dataset.name}, not {count}")
        rows = source.random.permutation(len(x))[:count]
        return {
            "x": Leaf(x[rows].reshape(*shape, x.shape[1]), "array"),
            "y": Leaf(y[rows].reshape(shape), "array"),
        }

    return draw


class Function(NamedTuple):
    """A function that a draw may call: `least` positional arguments, or exactly as many."""

    draw: DrawFunction
    usage: str
    options: tuple[str, ...] = ()
    least: int = 0
    exact: bool = False


FUNCTIONS = {
    "normal": Function(
        _normal, "normal(*shape, mean=0, scale=1)", options=("mean", "scale", "dtype")
    ),
    "uniform": Function(
        _uniform, "uniform(*shape, low=0, high=1)", options=("low", "high", "dtype")
    ),
    "integers": Function(
        _integers, "integers(low, high, *shape), excluding high", options=("dtype",), least=2
    ),
    "permutation": Function(
        _permutation, "permutation(n)", options=("dtype",), least=1, exact=True
    ),
    "bernoulli": Function(_bernoulli, "bernoulli(*shape, p=0.5)", options=("p", "dtype")),
    "zeros": Function(_zeros, "zeros(*shape)", options=("dtype",)),
    "ones": Function(_ones, "ones(*shape)", options=("dtype",)),
    "full": Function(_full, "full(value, *shape)", options=("dtype",), least=1),
    "arange": Function(_arange, "arange(n)", options=("dtype",), least=1),
    "key": Function(_key, "key(), a PRNG key", exact=True),
    "int": Function(
        _int,
        "int(low, high), a Python int: low, high and others, case by case",
        least=2,
        exact=True,
    ),
    "float": Function(_float, "float(low, high), a Python float", least=2, exact=True),
}
"""All functions but the data sets, which are draws too; see `function_named`."""


def function_named(name: str) -> Function | None:
    dataset = DATASETS.get(name)
    if dataset is None:
        return FUNCTIONS.get(name)
    usage = f"{name}(*shape): {{'x': (*shape, features), 'y': (*shape,)}}, examples with labels"
    return Function(_examples(dataset), usage, least=1)


def function_names() -> list[str]:
    return [*FUNCTIONS, *DATASETS]
