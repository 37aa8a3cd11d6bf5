"""Causes: the answer is constant, an input, not a number, or a function of the right answer."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from tutor.arrays import Floats, np
from tutor.explain.bare_code import bare
from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, everywhere

_UPDATED = re.compile(r"\s{1,80}\w{1,40}(?:\.\w{1,40}|\[[^\]\n]{0,40}\]){0,3}\.at\[")
_GOES_ON = re.compile(r"(?:[-+*/%@=<>&|^([{,\\]|\b(?:return|and|or|if|else|in))$")

MANY = 3
"""Distinct values required before a function of them is evidence."""


def zero(comparison: Comparison) -> Fields | None:
    """Recognise a result that is zero everywhere."""
    return everywhere(comparison, lambda pair: not pair.actual.any())


def not_a_number(comparison: Comparison) -> Fields | None:
    """Recognise NaN in place of numbers."""
    if comparison.mismatch.kind != "nan":
        return None
    return everywhere(comparison, lambda pair: bool(np.isnan(pair.actual).any()))


def an_input(comparison: Comparison) -> Fields | None:
    """Recognise an input returned unchanged; of several wrong arrays, not one that was expected to
    be a little smaller in all its numbers, which lacks its decay only."""
    names = []
    arrays = comparison.arrays()
    for pair in comparison.pairs:
        if not np.ptp(pair.actual):
            return None
        if comparison.others and _decayed(pair.expected, pair.actual):
            return None
        name = next((n for n, array in arrays if np.array_equal(array, pair.actual)), None)
        if name is None:
            return None
        names.append(name)
    return {"input": names[0]} if names else None


def _decayed(one: Floats, other: Floats) -> bool:
    """Return whether an array is a little less than 1 times another."""
    size = float((other * other).sum())
    ratio = float((one * other).sum()) / size if size else 0.0
    return 0.5 < ratio < 1 and bool(np.abs(one - ratio * other).max() <= 1e-5 * np.abs(other).max())


def update_not_assigned(comparison: Comparison) -> Fields | None:
    """Recognise an input returned unchanged by code with a line `x.at[…].set(…)` whose result goes
    nowhere."""
    return an_input(comparison) if _dropped_updates(bare(comparison.source)) else None


def _dropped_updates(source: str) -> bool:
    """Return whether a statement begins with `x.at[`, as a line does that continues none."""
    before = ""
    for line in source.splitlines():
        if _UPDATED.match(line) and not _GOES_ON.search(before):
            return True
        before = line.rstrip() or before
    return False


def function_too_many(comparison: Comparison) -> Fields | None:
    """Recognise an activation of the expected result; not of an input that should have come back as
    it is, on which the code took the wrong branch."""
    for pair in comparison.pairs:
        if any(np.array_equal(array, pair.expected) for _, array in comparison.arrays()):
            return None
    for name, function in _activations():
        if everywhere(comparison, partial(_turns, function=function)) is not None:
            return {"function": name}
    return None


def _activations() -> Iterator[tuple[str, Callable[[Floats], Floats]]]:
    """Yield activations by name."""

    def softmax(x: Floats) -> Floats:
        powers = np.exp(x - x.max(-1, keepdims=True)) if x.ndim else x / x
        result: Floats = powers / powers.sum(-1, keepdims=True)
        return result

    yield "relu", lambda x: np.maximum(x, 0)
    yield "tanh", np.tanh
    yield "sigmoid", lambda x: 1 / (1 + np.exp(-x))
    yield "softmax", softmax
    yield "log_softmax", lambda x: np.log(softmax(x))
    yield "exp", np.exp


def _turns(pair: ArrayPair, function: Callable[[Floats], Floats]) -> bool:
    """Return whether a function turns the expected array into the actual one."""
    before, after = pair.expected, pair.actual
    if pair.distinct < MANY or len(np.unique(after)) < 2 or not np.mod(before, 1).any():
        return False  # too few integers are different
    # A function that changes nearly nothing is not the difference.
    return not pair.fits(before, after) and pair.fits(function(before), after)
