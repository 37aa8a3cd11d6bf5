"""The answer is part of what was expected, or has more than that."""

from tutor.explain.causes.comparison import Comparison, Fields


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
