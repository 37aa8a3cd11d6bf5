"""Causes: the expected result is a well-known formula of the inputs, and the answer a variant."""

import re
from collections.abc import Callable, Iterator

from tutor.explain.causes import cells, formulas, networks
from tutor.explain.causes.comparison import Comparison, Fields
from tutor.tree import leaves

MAX_SIZE = 1 << 17
"""Limit of all inputs together; larger ones would take too long."""

Family = Callable[[Comparison, formulas.Shape], Iterator[formulas.Variants]]


def another_attention(comparison: Comparison) -> Fields | None:
    """Recognise attention with another scale, softmax axis or mask than expected."""
    return _variant(comparison, r"softmax|attention|Attention", formulas.attention)


def another_normalisation(comparison: Comparison) -> Fields | None:
    """Recognise a normalisation over other axes, or with another variance, than expected."""
    return _variant(comparison, r"[nN]orm|var\(|std\(|sqrt", formulas.normalisation)


def another_pooling(comparison: Comparison) -> Fields | None:
    """Recognise windows of an image reduced in another way than expected: average for maximum."""
    return _variant(comparison, r"[pP]ool|reduce_window|max\(", formulas.pooling)


def another_loss(comparison: Comparison) -> Fields | None:
    """Recognise a cross-entropy or a squared error with other labels, another logarithm or another
    reduction than expected."""
    return _variant(
        comparison, r"softmax|entropy|nll_loss|Entropy", formulas.cross_entropy
    ) or _variant(comparison, r"mean\(|sum\(|mse|MSE", formulas.errors)


def another_cell(comparison: Comparison) -> Fields | None:
    """Recognise the step of an LSTM or GRU with its gates in another order or place, or without a
    bias."""
    return _variant(comparison, r"LSTM|lstm|sigmoid", cells.lstm) or _variant(
        comparison, r"GRU|gru|sigmoid", cells.gru
    )


def another_network(comparison: Comparison) -> Fields | None:
    """Recognise dense layers with an activation too many or too few, a square weight that is not
    transposed, or without biases."""
    return _variant(comparison, r"@|dot\(|Linear|linear|Dense|einsum", networks.dense)


def _variant(comparison: Comparison, mentioned: str, family: Family) -> Fields | None:
    """Return how the answer differs from the expected formula, if they are variants of a family,
    which is worth its time only if the code or the PyTorch mentions it."""
    text = comparison.source + comparison.torch
    if not comparison.pairs or (text and not re.search(mentioned, text)):
        return None
    if sum(array.size for _, array in comparison.arrays()) > MAX_SIZE:
        return None
    answers = [path for path, _ in leaves(comparison.expected)]
    for variants in family(comparison, comparison.pairs[0].expected.shape):
        right: formulas.Options | None = None
        wrong: list[formulas.Options] = []
        for options, results in variants:
            if len(results) not in (1, len(answers)):
                continue
            known = dict(zip(answers, results, strict=False)) if len(results) > 1 else {}
            there = [(pair, known.get(pair.path, results[0])) for pair in comparison.pairs]
            if all(pair.fits(result, pair.expected) for pair, result in there):
                right = right or options
            elif all(pair.fits(result, pair.actual) for pair, result in there):
                wrong.append(options)
        if right is None or not wrong:
            continue
        # The fewest changes explain it best.
        nearest = sorted(wrong, key=lambda one: len(_changed(one, right)))[0]
        if all(kind == "epsilon" for kind in right if right[kind] != nearest[kind]):
            return None  # which has causes of its own
        return {
            "formula": ", ".join(_changed(nearest, right)),
            "expected_formula": ", ".join(_changed(right, nearest)),
        }
    return None


def _changed(one: formulas.Options, other: formulas.Options) -> list[str]:
    """Return the words for what differs from another variant."""
    return [words for kind, words in one.items() if other[kind] != words]
