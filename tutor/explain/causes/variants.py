"""Causes: the expected result is a well-known formula of the inputs, and the answer a variant."""

from tutor.explain.causes import cells, formulas
from tutor.explain.causes.comparison import Comparison, Fields, Numbers
from tutor.tree import leaves

MAX_SIZE = 1 << 14
"""Limit of all inputs together; larger ones would take too long."""

FAMILIES = (
    formulas.attention,
    formulas.normalisation,
    formulas.pooling,
    formulas.cross_entropy,
    formulas.errors,
    cells.lstm,
    cells.gru,
)


def another_formula(comparison: Comparison) -> Fields | None:
    """Recognise a variant of the right formula: attention, a normalisation, a pooling, a loss or
    a recurrent cell with another axis, scale, order or reduction."""
    arrays = comparison.arrays()
    if not comparison.pairs or sum(array.size for _, array in arrays) > MAX_SIZE:
        return None
    pairs = {pair.path: pair for pair in comparison.pairs}
    shapes = [pair.expected.shape for pair in comparison.pairs]
    answers = [path for path, _ in leaves(comparison.expected)]
    for family in FAMILIES:
        for variants in family(comparison, shapes[0]):
            right: formulas.Options | None = None
            wrong: list[formulas.Options] = []
            for options, results in variants:
                if len(results) not in (1, len(answers)):
                    continue
                known = dict(zip(answers, results, strict=False)) if len(results) > 1 else {}
                there = [(pair, known.get(path, results[0])) for path, pair in pairs.items()]
                if all(pair.fits(result, pair.expected) for pair, result in there):
                    right = right or options
                elif all(pair.fits(result, pair.actual) for pair, result in there):
                    wrong.append(options)
            if right is not None and wrong:
                # The fewest changes explain it best.
                nearest = min(wrong, key=lambda one: len(_changed(one, right)))
                return {
                    "formula": ", ".join(_changed(nearest, right)),
                    "expected_formula": ", ".join(_changed(right, nearest)),
                }
    return None


def _changed(one: formulas.Options, other: formulas.Options) -> list[str]:
    """Return the words for what differs from another variant."""
    return [words for kind, words in one.items() if other[kind] != words]


__all__ = ["Numbers", "another_formula"]
