"""What the functions that draw inputs share: their random stream, shapes and errors."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from tutor.arrays import Array, np
from tutor.inputs.arithmetic import ArithmeticFault, Number
from tutor.inputs.datasets import DATASETS, Datasets
from tutor.tree import Leaf, Tree

MAX_ELEMENTS = 4_000_000
"""Elements of one drawn array: 16 MB of float32."""


class DrawError(ArithmeticFault):
    """An invalid draw; `column` counts from 0 within its text. `part`: what of the lesson could not
    be drawn, as in `Fault.running`, if a plan says so."""

    part = ""


DRAWING = "inputs: "
"""What `Fault.running` begins with if an input could not be drawn; its name and ` of ` with the
name of the check follow."""


class Stream(NamedTuple):
    """The source of a draw's values. `corner` counts the cases; `first` marks the first one;
    `given` is the other input that the draw begins with, if it takes one; `datasets` are those that
    it may draw from."""

    random: "np.random.Generator"
    corner: int
    first: bool
    given: Tree = None
    datasets: Datasets = DATASETS


DrawFunction: TypeAlias = Callable[..., Tree]
"""Its arguments are a `Stream`, the numbers of the draw, and its options by name."""

FLOATS = ("float32", "float16", "bfloat16")
DTYPES = (*FLOATS, "int32", "uint8", "bool", "complex64")


def shape_of(arguments: Sequence[Number]) -> tuple[int, ...]:
    """Return arguments as a shape. Raises: DrawError: one is not a dimension, or there would be too
    many elements."""
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


def in_order(name: str, low: Number, high: Number) -> None:
    """Check a range. Raises: DrawError: `high` is below `low`."""
    if high < low:
        raise DrawError(f"{name}({low:g}, {high:g}): the second number is below the first")


def array(values: Array, dtype: str) -> Leaf:
    """Return values as an array of this dtype."""
    if dtype == "bfloat16":
        import ml_dtypes

        return Leaf(values.astype(ml_dtypes.bfloat16), "array")
    return Leaf(np.asarray(values).astype(dtype), "array")


def least_and_most(low: Number, high: Number) -> tuple[int, int]:
    """Return the lowest and the highest integer of a range that excludes `high`, as Python's does.
    A range whose bounds are equal holds that number."""
    return int(low), max(int(high), int(low) + 1) - 1


def whole_numbers(source: Stream, least: int, most: int, shape: tuple[int, ...]) -> Array:
    """Return integers from `least` to `most`: in the first case both occur, in others neither if
    there are numbers between. Some wrong answers fail only if a bound is drawn, others only if it
    is not."""
    inner = 0 if source.first or most - least < 2 else 1
    values = source.random.integers(least + inner, most - inner, shape, endpoint=True)
    if values.size > 1 and not inner:
        values.flat[source.random.choice(values.size, 2, replace=False)] = least, most
    return values
