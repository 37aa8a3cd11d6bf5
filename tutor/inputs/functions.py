"""The functions that a draw may call: `normal`, `integers`, `key`, … and the arrays they give."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tutor.inputs.arithmetic import ArithmeticFault, Number
from tutor.tree import Leaf, Tree

if TYPE_CHECKING:
    import numpy as np

MAX_ELEMENTS = 4_000_000
"""Of one drawn array: 16 MB of float32."""


class DrawError(ArithmeticFault):
    """A draw that cannot be understood; `column` counts from 0 within its text."""


CORNERS = 3
"""A Python integer is its lowest value, its highest, and any other in turn, case by case."""


class Stream(NamedTuple):
    """Where the values of a draw come from. `corner` walks from case to case, which may be the
    `first`."""

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
            raise DrawError(f"a dimension must be a whole number, not {size!r}")
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


def _integers(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    low, high, *shape = arguments
    least, most = int(low), max(int(high), int(low) + 1) - 1
    # Wrong answers live where a bound comes up, and where it does not.
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
    bounds = {0: low, 1: high}
    value = bounds.get(source.corner, source.random.integers(low, high, endpoint=True))
    return Leaf(np.asarray(value, np.int64), "int")


def _float(source: Stream, arguments: list[Number], options: Options) -> Leaf:
    import numpy as np

    low, high = arguments
    return Leaf(np.asarray(source.random.uniform(low, high)), "float")


def _digits(source: Stream, arguments: list[Number], options: Options) -> Tree:
    from tutor.inputs.datasets import digits

    x, y = digits()
    shape = _shape(arguments)
    count = 1
    for size in shape:
        count *= size
    if count > len(x):
        raise DrawError(f"there are {len(x)} digits, not {count}")
    rows = source.random.permutation(len(x))[:count]
    return {
        "x": Leaf(x[rows].reshape(*shape, x.shape[1]), "array"),
        "y": Leaf(y[rows].reshape(shape), "array"),
    }


USAGE = {
    "normal": "normal(*shape, mean=0, scale=1)",
    "uniform": "uniform(*shape, low=0, high=1)",
    "integers": "integers(low, high, *shape) with high left out",
    "permutation": "permutation(n)",
    "bernoulli": "bernoulli(*shape, p=0.5)",
    "zeros": "zeros(*shape)",
    "ones": "ones(*shape)",
    "full": "full(value, *shape)",
    "arange": "arange(n)",
    "key": "key(), a PRNG key",
    "int": "int(low, high), a Python int: low, high, and any between in turn",
    "float": "float(low, high), a Python float",
    "digits": "digits(*shape): {'x': (*shape, 64), 'y': (*shape,)}, real digits, aligned",
}
"""What there is, for messages and for the documentation."""

POSITIONAL = {"integers": 2, "permutation": 1, "full": 1, "arange": 1, "int": 2, "float": 2,
               "digits": 1, "key": 0}  # fmt: skip
EXACT = frozenset({"permutation", "arange", "int", "float", "key"})

DRAWS: "dict[str, tuple[DrawFunction, frozenset[str]]]" = {
    "normal": (_normal, frozenset({"mean", "scale", "dtype"})),
    "uniform": (_uniform, frozenset({"low", "high", "dtype"})),
    "integers": (_integers, frozenset({"dtype"})),
    "permutation": (_permutation, frozenset({"dtype"})),
    "bernoulli": (_bernoulli, frozenset({"p", "dtype"})),
    "zeros": (_zeros, frozenset({"dtype"})),
    "ones": (_ones, frozenset({"dtype"})),
    "full": (_full, frozenset({"dtype"})),
    "arange": (_arange, frozenset({"dtype"})),
    "key": (_key, frozenset()),
    "int": (_int, frozenset()),
    "float": (_float, frozenset()),
    "digits": (_digits, frozenset()),
}
