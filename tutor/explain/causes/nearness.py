"""Causes: the answer is nearly right."""

from functools import cache, partial

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers, everywhere

SLIGHT = 5e-3
"""Relative to the largest number: an approximate activation, say, is off by 5e-4."""

CLOSE = 0.2
"""Relative to the largest number: a layer or optimizer with different defaults."""


def slight(comparison: Comparison) -> Fields | None:
    """Recognise an error smaller than a wrong formula would cause."""
    return _within(comparison, SLIGHT)


def close(comparison: Comparison) -> Fields | None:
    """Recognise a result of the right magnitude."""
    return _within(comparison, CLOSE)


def digits_lost(comparison: Comparison) -> Fields | None:
    """Recognise a result of the right magnitude where an input is far from zero, so that a variance
    as mean(x²) - mean(x)² loses digits."""
    import numpy as np

    far = any(
        array.size > 3 and abs(float(array.mean())) > 20 * float(array.std())
        for _, array in comparison.arrays()
        if np.isfinite(array).all()
    )
    return close(comparison) if far else None


def _within(comparison: Comparison, share: float) -> Fields | None:
    import numpy as np

    def holds(pair: ArrayPair) -> bool:
        size = float(np.abs(pair.expected).max(initial=0.0))
        error = np.abs(pair.actual - pair.expected)
        return bool(np.isfinite(error).all() and error.max() <= share * size)

    return everywhere(comparison, holds)


def rounded(comparison: Comparison) -> Fields | None:
    """Recognise the right result in bfloat16 precision."""
    return everywhere(comparison, _rounded)


def _rounded(pair: ArrayPair) -> bool:
    import numpy as np

    near = np.abs(pair.actual - pair.expected) <= 2**-6 * np.abs(pair.expected).max(initial=0.0)
    return pair.distinct > 1 and bool(
        near.all() and _coarse(pair.actual) and not _coarse(pair.expected)
    )


def _coarse(numbers: Numbers) -> bool:
    """Return whether the two low bytes of every float32 are zero, as in bfloat16."""
    import numpy as np

    return not (numbers.astype(np.float32).view(np.uint32) & 0xFFFF).any()


def rows_stretched(comparison: Comparison) -> Fields | None:
    """Recognise centred rows that are larger than expected, each by its own factor: the effect of a
    smaller epsilon in a normalisation."""
    return everywhere(comparison, _stretched)


def _stretched(pair: ArrayPair) -> bool:
    import numpy as np

    if pair.expected.ndim < 2 or pair.expected.shape[-1] < 3:
        return False
    rows, found = (array.reshape(-1, array.shape[-1]) for array in (pair.expected, pair.actual))
    size = np.abs(rows).max(axis=1)
    if not np.isfinite(found).all() or not (size > 0).all():
        return False
    if (np.abs(rows.mean(axis=1)) > 1e-3 * size).any():
        return False
    stretch = (rows * found).sum(axis=1) / (rows * rows).sum(axis=1)
    fits = np.abs(found - stretch[:, None] * rows).max(axis=1) <= 1e-4 * size
    return bool(fits.all() and (stretch > 1 - 1e-6).all() and stretch.max() < 4)


def rows_scaled(comparison: Comparison) -> Fields | None:
    """Recognise rows that are right up to a factor near 1, different for each row."""
    return everywhere(comparison, _scaled)


def _scaled(pair: ArrayPair) -> bool:
    import numpy as np

    if pair.expected.ndim < 2 or pair.expected.shape[-1] < 3 or len(pair.expected) < 2:
        return False
    rows, found = (array.reshape(-1, array.shape[-1]) for array in (pair.expected, pair.actual))
    sizes = (rows * rows).sum(axis=1)
    if not np.isfinite(found).all() or not sizes.all():
        return False
    factors = (rows * found).sum(axis=1) / sizes
    fits = np.abs(found - factors[:, None] * rows).max(axis=1) <= 1e-4 * np.abs(rows).max(axis=1)
    return bool(fits.all() and factors.min() > 0.5 and factors.max() < 2)


def more_under_the_root(comparison: Comparison) -> Fields | None:
    """Recognise a result whose square is too large by one small constant."""
    import numpy as np

    def holds(pair: ArrayPair) -> bool:
        more = pair.actual**2 - pair.expected**2
        size = float(np.abs(pair.expected).max(initial=0.0)) ** 2
        return bool(
            pair.actual.size > 1
            and more.min(initial=0.0) >= 0
            and 0 < more.max() <= 0.1 * max(size, 1e-6)
            and np.ptp(more) <= max(0.05 * more.max(), 3e-7 * size)
        )

    return everywhere(comparison, holds)


def standardised(comparison: Comparison) -> Fields | None:
    """Recognise the expected columns standardised to mean 0 and standard deviation 1."""
    return everywhere(
        comparison,
        lambda pair: (
            _standard(pair.actual)
            and not _standard(pair.expected)
            and _columns_alike(pair.expected, pair.actual)
        ),
    )


def not_standardised(comparison: Comparison) -> Fields | None:
    """Recognise columns that should have been standardised to mean 0 and standard deviation 1."""
    return everywhere(
        comparison,
        lambda pair: (
            _standard(pair.expected)
            and not _standard(pair.actual)
            and _columns_alike(pair.actual, pair.expected)
        ),
    )


def _columns_alike(one: Numbers, standard: Numbers) -> bool:
    """Return whether every column of `one`, shifted and scaled, is that of `standard`."""
    import numpy as np

    axes = tuple(range(one.ndim - 1))
    moved = one - one.mean(axes)
    stretched = (moved * standard).mean(axes) * standard
    return bool(np.abs(moved - stretched).max() <= 1e-2 * np.abs(moved).max())


def _standard(numbers: Numbers) -> bool:
    import numpy as np

    if numbers.ndim < 2 or len(numbers) < 4 or not np.isfinite(numbers).all():
        return False
    axes = tuple(range(numbers.ndim - 1))
    means, spreads = np.abs(numbers.mean(axes)), np.abs(numbers.std(axes) - 1)
    return bool(means.max() < 1e-3 and spreads.max() < 0.02)


def gelu_form(comparison: Comparison) -> Fields | None:
    """Recognise one of the two forms of GELU, exact or by tanh, where the other was expected of the
    same numbers."""
    if everywhere(comparison, _near_gelu) is None:
        return None
    exact, by_tanh = _curves()
    for expected, actual, name in ((exact, by_tanh, "by tanh"), (by_tanh, exact, "exact")):
        if everywhere(comparison, partial(_turned, expected=expected, actual=actual)) is not None:
            return {"form": name, "expected_form": "exact" if name == "by tanh" else "by tanh"}
    return None


def _near_gelu(pair: ArrayPair) -> bool:
    """Return whether an error is as small as that between the forms, and numbers such as theirs."""
    import numpy as np

    both = np.stack([pair.actual, pair.expected])
    if both.size < 8 or not np.isfinite(both).all() or both.min() < -0.2 or both.max() > 11:
        return False
    return bool(5e-5 < np.abs(pair.actual - pair.expected).max() < 6e-4)


@cache
def _curves() -> tuple[Numbers, Numbers]:
    """Return both forms of the numbers from -12 to 12."""
    import numpy as np

    x = np.linspace(-12.0, 12.0, 96_001)
    cubic = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + _erf(x / np.sqrt(2))), 0.5 * x * (1 + np.tanh(cubic))


def _turned(pair: ArrayPair, expected: Numbers, actual: Numbers) -> bool:
    """Return whether each number of a pair comes from one x of two curves, which fall and then
    rise."""
    import numpy as np

    ours, theirs = pair.actual.reshape(-1), pair.expected.reshape(-1)
    low = int(expected.argmin())
    rising = np.interp(theirs, expected[low:], actual[low:])
    falling = np.interp(theirs, expected[low::-1], actual[low::-1])
    off = np.abs(ours - rising)
    off = np.where(theirs < 0, np.minimum(off, np.abs(ours - falling)), off)
    return bool(off.max() <= 1e-5)


def _erf(x: Numbers) -> Numbers:
    """Return the error function of numbers in even steps around zero, by integration."""
    import numpy as np

    density = 2 / np.sqrt(np.pi) * np.exp(-x * x)
    step = float(x[1] - x[0])
    total: Numbers = np.cumsum(density) * step - 0.5 * step * (density + density[0])
    centred: Numbers = total - total[len(x) // 2]
    return centred
