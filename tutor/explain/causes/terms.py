"""Causes: a term or a factor of the result is missing, or there is one too many."""

from collections.abc import Iterator
from typing import Any

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers
from tutor.explain.causes.factors import named
from tutor.explain.causes.scaling import ratio_of

SMALL = 1e-2
"""Terms below this share of the largest number are not evidence."""

MANY = 3


def _terms(comparison: Comparison, pair: ArrayPair) -> Iterator[tuple[str, Numbers]]:
    """Yield inputs that can be a term of an array, broadcast to its shape."""
    import numpy as np

    for name, array in comparison.arrays():
        if array.size < MANY or not np.ptp(array) or not np.isfinite(array).all():
            continue
        try:
            yield name, np.broadcast_to(array, pair.expected.shape)
        except ValueError:
            continue


def term_missing(comparison: Comparison) -> Fields | None:
    """Recognise a result that lacks an input as a summand: a residual or a bias, say."""
    return _term(comparison, 1.0)


def term_too_many(comparison: Comparison) -> Fields | None:
    """Recognise a result to which an input was added once too often."""
    return _term(comparison, -1.0)


def term_of_the_wrong_sign(comparison: Comparison) -> Fields | None:
    """Recognise a result in which an input has the wrong sign."""
    return _term(comparison, 2.0) or _term(comparison, -2.0)


def _term(comparison: Comparison, times: float) -> Fields | None:
    import numpy as np

    names: list[str] = []
    for pair in comparison.pairs:
        size = float(np.abs(pair.expected).max(initial=0.0))
        for name, term in _terms(comparison, pair):
            allowed = 2 * pair.tolerance * max(size, float(np.abs(term).max()))
            if np.abs(term).max() < SMALL * size or not pair.actual.any():
                continue
            if pair.fits(ratio_of(pair.expected, term) * term, pair.expected):
                continue  # any multiple of it has a term too many
            if np.abs(pair.expected - pair.actual - times * term).max() <= allowed:
                names.append(name)
                break
        else:
            return None
    return {"input": names[0]} if names else None


def factor_missing(comparison: Comparison) -> Fields | None:
    """Recognise a result that lacks a multiplication, element by element, by an input."""
    return _factor(comparison, False)


def factor_too_many(comparison: Comparison) -> Fields | None:
    """Recognise a result that is multiplied, element by element, by an input that it should not
    be."""
    return _factor(comparison, True)


def _factor(comparison: Comparison, too_many: bool) -> Fields | None:
    names: list[str] = []
    for pair in comparison.pairs:
        one, other = (pair.expected, pair.actual) if too_many else (pair.actual, pair.expected)
        if pair.distinct < MANY:
            return None
        for name, term in _terms(comparison, pair):
            if term.all() and one.any() and pair.fits(one * term, other):
                names.append(name)
                break
        else:
            return None
    return {"input": names[0]} if names else None


def constant_more(comparison: Comparison) -> Fields | None:
    """Recognise the expected result plus a constant."""
    import numpy as np

    found: list[float] = []
    for pair in comparison.pairs:
        more = pair.actual - pair.expected
        size = float(np.abs(pair.expected).max(initial=0.0))
        if pair.distinct < MANY or not np.isfinite(more).all():
            return None
        if np.ptp(more) > 2 * pair.tolerance * size:
            return None
        # A smaller one is evidence if it is the same everywhere.
        least = min(SMALL * size, max(100 * float(np.ptp(more)), 40 * pair.tolerance * size))
        if not least <= abs(more.mean()) <= size / SMALL**2:
            return None
        found.append(float(more.mean()))
    if not found or np.ptp(found) > 1e-3 * abs(found[0]):
        return None
    name = named(found[0], comparison, 1e-4) or named(-found[0], comparison, 1e-4)
    return {
        "number": f"{abs(found[0]):.4g}",
        "how": "large" if found[0] > 0 else "small",
        "name": f", which is {name}" if name else "",
    }


def row_alike(comparison: Comparison) -> Fields | None:
    """Recognise an error that is the same vector in every row."""
    return _offset(comparison, 0)


def offset_per_row(comparison: Comparison) -> Fields | None:
    """Recognise rows that are each off by a constant."""
    return _offset(comparison, 1)


def _offset(comparison: Comparison, axis: int) -> Fields | None:
    import numpy as np

    for pair in comparison.pairs:
        if (tables := _table(pair)) is None:
            return None
        expected, actual = tables
        more = actual - expected
        size = float(np.abs(expected).max())
        if np.abs(more).max() < SMALL * size or np.ptp(more) < SMALL * size:
            return None
        if np.ptp(more, axis=axis).max() > 2 * pair.tolerance * size:
            return None
        if np.ptp(expected, axis=axis).max() < SMALL * size:
            return None  # equal rows are always off by the same
        if _few(np.abs(more).max(axis=axis) > SMALL * SMALL * size):
            return None
    return {} if comparison.pairs else None


def factor_per_row(comparison: Comparison) -> Fields | None:
    """Recognise rows that are each off by their own factor."""
    return _scaled(comparison, 1)


def factor_per_column(comparison: Comparison) -> Fields | None:
    """Recognise columns that are each off by their own factor."""
    return _scaled(comparison, 0)


def _scaled(comparison: Comparison, axis: int) -> Fields | None:
    import numpy as np

    for pair in comparison.pairs:
        if (tables := _table(pair)) is None:
            return None
        expected, actual = tables
        sizes = (expected * expected).sum(axis, keepdims=True)
        if not sizes.all() or not actual.any():
            return None
        factors = (expected * actual).sum(axis, keepdims=True) / sizes
        largest = np.abs(actual).max(axis, keepdims=True)
        if (np.abs(actual - factors * expected) > 10 * pair.tolerance * largest).any():
            return None
        if np.ptp(factors) < SMALL * np.abs(factors).max():
            return None
        if _few(np.abs(factors - 1) > SMALL) or _alike(expected):
            return None  # of equal rows, columns are always off by factors
    return {} if comparison.pairs else None


def _few(wrong: Any) -> bool:
    """Return whether most rows or columns are right, so that the place says more."""
    return 2 * int(wrong.sum()) <= int(wrong.size)


def _alike(table: Numbers) -> bool:
    """Return whether all rows of a matrix are multiples of one row."""
    import numpy as np

    longest = table[int((table * table).sum(axis=1).argmax())]
    factors = table @ longest / float(longest @ longest)
    rest = np.abs(table - factors[:, None] * longest)
    return bool(rest.max() <= 1e-4 * np.abs(longest).max())


def _table(pair: ArrayPair) -> tuple[Numbers, Numbers] | None:
    """Return both arrays as matrices that are large enough to be evidence."""
    import numpy as np

    if pair.expected.ndim < 2 or pair.expected.shape[-1] < MANY:
        return None
    expected, actual = (x.reshape(-1, x.shape[-1]) for x in (pair.expected, pair.actual))
    if len(expected) < MANY or not np.isfinite(actual).all() or not np.isfinite(expected).all():
        return None
    return (expected, actual) if pair.distinct > MANY else None
