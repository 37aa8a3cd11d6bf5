"""Causes: the answer depends on earlier cases."""

from collections.abc import Iterator

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers, real_numbers
from tutor.tree import leaves

MANY = 6
"""Different integers that are not alike by chance."""


def as_before(comparison: Comparison) -> Fields | None:
    """Recognise the right answer to an earlier case, if it is more than a few integers."""
    if not any(_telling(pair) for pair in comparison.pairs):
        return None
    for answer in _earlier(comparison):
        if all(_matches(pair, answer, pair.actual) for pair in comparison.pairs):
            return {}
    return None


def piled_up(comparison: Comparison) -> Fields | None:
    """Recognise the right answer plus those of the cases before it."""
    if not any(_telling(pair) for pair in comparison.pairs):
        return None
    answers = list(_earlier(comparison))
    for last in range(1, len(answers) + 1):
        previous = answers[-last:]
        for pair in comparison.pairs:
            known = [answer.get(pair.path) for answer in previous]
            added = [one for one in known if one is not None and one.shape == pair.actual.shape]
            total: Numbers = pair.expected + sum(added)
            if len(added) < len(previous) or not pair.fits(pair.actual, total):
                break
        else:
            return {"count": str(last)}
    return None


def _telling(pair: ArrayPair) -> bool:
    """Return whether numbers are evidence: small integers, such as counts, are alike by chance."""
    import numpy as np

    return bool(np.mod(pair.actual, 1).any()) or pair.distinct >= MANY


def _earlier(comparison: Comparison) -> Iterator[dict[str, Numbers]]:
    """Yield the arrays of each earlier answer by path, if there is anything to compare."""
    for tree in comparison.earlier if comparison.pairs else ():
        known = {path: real_numbers(leaf) for path, leaf in leaves(tree)}
        yield {path: numbers for path, numbers in known.items() if numbers is not None}


def _matches(pair: ArrayPair, answer: dict[str, Numbers], actual: Numbers) -> bool:
    before = answer.get(pair.path)
    return before is not None and pair.fits(actual, before)
