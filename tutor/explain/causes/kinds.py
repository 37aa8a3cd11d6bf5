"""The answer is of another kind than was expected."""

from tutor.explain.causes.comparison import Comparison, Fields


def dtype(comparison: Comparison) -> Fields | None:
    """The right shape, in another dtype."""
    mismatch = comparison.mismatch
    if mismatch.kind != "dtype":
        return None
    return {"dtype": mismatch.actual.dtype, "expected_dtype": mismatch.expected.dtype}


def no_jax_array(comparison: Comparison) -> Fields | None:
    """No `jax.Array`."""
    mismatch = comparison.mismatch
    if mismatch.kind != "type" or mismatch.expected.type not in ("jax.Array", "torch.Tensor"):
        return None
    return {"type": mismatch.actual.type}


def part_of_the_result(comparison: Comparison) -> Fields | None:
    """One of several results that were expected."""
    from tutor.checks.compare import compare

    expected = comparison.expected
    if comparison.mismatch.kind != "structure" or not isinstance(expected, list | tuple):
        return None
    for number, one in enumerate(expected):
        if compare(one, comparison.actual) is None:
            return {"number": str(number), "count": str(len(expected))}
    return None


def more_than_the_result(comparison: Comparison) -> Fields | None:
    """What was expected, and more beside it."""
    from tutor.checks.compare import compare

    actual = comparison.actual
    if comparison.mismatch.kind != "structure" or not isinstance(actual, list | tuple):
        return None
    for number, one in enumerate(actual):
        if compare(comparison.expected, one) is None:
            return {"number": str(number), "count": str(len(actual))}
    return None
