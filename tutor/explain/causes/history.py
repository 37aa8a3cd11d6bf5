"""Causes: the answer depends on earlier cases."""

from collections.abc import Iterator

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers, real_numbers
from tutor.tree import leaves


def as_before(comparison: Comparison) -> Fields | None:
    """Recognise the right answer to an earlier case."""
    for answer in _earlier(comparison):
        if all(_matches(pair, answer, pair.actual) for pair in comparison.pairs):
            return {}
    return None


def piled_up(comparison: Comparison) -> Fields | None:
    """Recognise the right answer plus those of the cases before it."""
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


def _earlier(comparison: Comparison) -> Iterator[dict[str, Numbers]]:
    """Yield the arrays of each earlier answer by path, if there is anything to compare."""
    for tree in comparison.earlier if comparison.pairs else ():
        known = {path: real_numbers(leaf) for path, leaf in leaves(tree)}
        yield {path: numbers for path, numbers in known.items() if numbers is not None}


def _matches(pair: ArrayPair, answer: dict[str, Numbers], actual: Numbers) -> bool:
    before = answer.get(pair.path)
    return before is not None and pair.fits(actual, before)
