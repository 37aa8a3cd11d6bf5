"""Causes: the answer uses an input in the wrong way."""

from tutor.explain.causes.comparison import Comparison, Fields, Numbers
from tutor.explain.causes.scaling import near


def not_transposed(comparison: Comparison) -> Fields | None:
    """Recognise a product with a square input in place of its transpose, or the reverse."""
    arrays = comparison.arrays()
    squares = [
        (name, w) for name, w in arrays if w.ndim == 2 and w.shape[0] == w.shape[1] and len(w) > 1
    ]
    for name, w in squares:
        for other, x in arrays:
            if other == name or not x.ndim or x.shape[-1] != len(w):
                continue
            one, two = x @ w, x @ w.T
            if all(
                pair.fits(pair.actual - pair.expected, one - two)
                or pair.fits(pair.actual - pair.expected, two - one)
                for pair in comparison.pairs
            ):
                return {"input": name} if comparison.pairs else None
    return None


def within_a_limit(comparison: Comparison) -> Fields | None:
    """Recognise a global norm equal to a scalar input, where a smaller norm was expected."""
    import numpy as np

    if not comparison.pairs:
        return None

    def norm(one: list[Numbers]) -> float:
        return float(np.sqrt(sum(float((numbers * numbers).sum()) for numbers in one)))

    actual = norm([pair.actual for pair in comparison.pairs])
    expected = norm([pair.expected for pair in comparison.pairs])
    for name, array in comparison.arrays():
        if array.size == 1 and near(actual, float(array.reshape(()))) and expected < 0.999 * actual:
            return {"input": name}
    return None


def square_input(comparison: Comparison) -> Fields | None:
    """Recognise wrong numbers where an input is a square matrix, so that swapping its axes does not
    change any shape; and where it is not the matrix itself that was to be changed."""
    wrong = [pair.expected.shape for pair in comparison.pairs]
    for name, array in comparison.arrays():
        square = array.ndim == 2 and array.shape[0] == array.shape[1] and len(array) > 1
        if square and (len(wrong) == 1 or array.shape not in wrong):
            return {"input": name} if comparison.pairs else None
    return None


def one_column(comparison: Comparison) -> Fields | None:
    """Recognise wrong numbers where the inputs include both columns of shape (n, 1) and vectors."""
    shapes = [array.shape for _, array in comparison.arrays()]
    column = any(len(shape) == 2 and shape[1] == 1 and shape[0] > 1 for shape in shapes)
    vector = any(len(shape) == 1 and shape[0] > 1 for shape in shapes)
    return {} if column and vector and comparison.pairs else None


def last_axis_only(comparison: Comparison) -> Fields | None:
    """Recognise a layer that takes the last axis as channels, where the input has them first."""
    pair = comparison.other
    if comparison.mismatch.kind != "shape" or pair is None:
        return None
    actual, expected = pair.actual.shape, pair.expected.shape
    for name, array in comparison.arrays():
        shape = array.shape
        if len(shape) < 3 or len(actual) != len(shape) or len(expected) != len(shape):
            continue
        spatial = shape[2:]
        if actual[:-1] == shape[:-1] and spatial in (expected[1:-1], expected[2:]):
            return {"input": name, "shape": str(actual), "expected_shape": str(expected)}
    return None
