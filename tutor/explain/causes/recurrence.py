"""Causes: the answer follows a recurrence over time, y[t] = a · y[t-1] + b · x[t], with other
coefficients or from another start than expected."""

from collections.abc import Iterator
from itertools import product

from msgspec import Struct

from tutor.arrays import Floats, np
from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields

MANY = 5
"""Equations for each unknown coefficient: fewer fit by chance."""

EXACT = 1e-4
"""Relative to the largest number."""

APART = 0.02
"""Smallest singular value, relative to the largest, of columns that can be told apart."""

SAME = 1e-3
"""Difference of coefficients that rounding explains."""


class Recurrence(Struct, frozen=True):
    """Coefficients of y[t-1], x[t], x[t-1], and of y[t-1] where a mask is true at t or at t-1."""

    state: float
    now: float
    before: float
    masked_now: float = 0.0
    masked_before: float = 0.0

    def like(self, other: "Recurrence") -> bool:
        """Return whether two recurrences have the same coefficients."""
        return all(abs(a - b) <= SAME for a, b in zip(self.all, other.all, strict=True))

    @property
    def all(self) -> tuple[float, ...]:
        """All coefficients."""
        return (self.state, self.now, self.before, self.masked_now, self.masked_before)


class _Found(Struct, frozen=True):
    axis: int
    backwards: bool
    name: str
    mask: str
    expected: Recurrence
    actual: Recurrence
    starts: tuple[float | None, float | None]


def other_recurrence(comparison: Comparison) -> Fields | None:
    """Recognise a series that follows the expected recurrence with other coefficients."""
    found = _common(comparison)
    if found is None or found.expected.like(found.actual):
        return None
    return {
        "axis": str(found.axis),
        "formula": _shown(found.actual, found, comparison),
        "expected_formula": _shown(found.expected, found, comparison),
    }


def other_start(comparison: Comparison) -> Fields | None:
    """Recognise a series that follows the expected recurrence from another start."""
    found = _common(comparison)
    if found is None or not found.expected.like(found.actual):
        return None
    expected, actual = found.starts
    if expected is None or actual is None or abs(expected - actual) <= SAME:
        return None
    at = "-1" if found.backwards else "0"
    return {
        "axis": str(found.axis),
        "start": _times(actual, f"{found.name}[{at}]", comparison) or "0",
        "expected_start": _times(expected, f"{found.name}[{at}]", comparison) or "0",
    }


def _common(comparison: Comparison) -> _Found | None:
    """Return what holds for the only wrong array, or for all of them alike."""
    first: _Found | None = None
    for pair in comparison.pairs:
        found = _find(pair, comparison)
        if found is None or (first is not None and not found.actual.like(first.actual)):
            return None
        first = first or found
    return first


def _find(pair: ArrayPair, comparison: Comparison) -> _Found | None:
    shape = pair.expected.shape
    if not np.isfinite([pair.actual, pair.expected]).all():
        return None
    axes = [axis for axis in range(len(shape)) if shape[axis] >= 4]
    inputs = [(n, a) for n, a in comparison.arrays() if axes and a.shape == shape]
    masks = [(n, a) for n, a in inputs if set(np.unique(a).tolist()) == {0.0, 1.0}]
    streams = [(n, a) for n, a in inputs if np.isfinite(a).all() and np.ptp(a)]
    for axis, (name, x), (mask, m), backwards in product(
        axes, streams, [("", None), *masks], (False, True)
    ):
        if any(name == other for other, _ in masks):
            continue
        y, z, u = (_along(one, axis, backwards) for one in (pair.expected, pair.actual, x))
        v = None if m is None else _along(m, axis, backwards)
        if (expected := _fitted(y, u, v)) is None or (actual := _fitted(z, u, v)) is None:
            continue
        if expected.state or actual.state:
            starts = (_multiple(y[0], u[0]), _multiple(z[0], u[0]))
            return _Found(axis, backwards, name, mask, expected, actual, starts)
    return None


def _along(numbers: Floats, axis: int, backwards: bool) -> Floats:
    moved = np.moveaxis(numbers, axis, 0)
    return moved[::-1] if backwards else moved


def _fitted(y: Floats, x: Floats, mask: Floats | None) -> Recurrence | None:
    """Return the recurrence that a series follows exactly, with as few coefficients as possible."""
    terms = [y[:-1], x[1:], x[:-1]]
    if mask is not None:
        terms += [y[:-1] * mask[1:], y[:-1] * mask[:-1]]
    columns = np.stack([term.reshape(-1) for term in terms], axis=1)
    wanted = y[1:].reshape(-1)
    size = float(np.abs(wanted).max(initial=0.0))
    if not size or len(wanted) < MANY * columns.shape[1]:
        return None
    norms = np.sqrt((columns * columns).sum(axis=0))
    if not norms.all():
        return None
    # If the state is nearly a multiple of x, any coefficients fit.
    solved, _, rank, _ = np.linalg.lstsq(columns / norms, wanted, rcond=APART)
    solved = solved / norms
    if rank < columns.shape[1] or np.abs(columns @ solved - wanted).max() > EXACT * size:
        return None
    return Recurrence(*(0.0 if abs(c) <= SAME else float(c) for c in solved))


def _multiple(one: Floats, other: Floats) -> float | None:
    """Return r for one = r · other, which may be 0; None if there is none."""
    size = float((other * other).sum())
    if not size:
        return None
    ratio = float((one * other).sum()) / size
    allowed = EXACT * float(np.abs(other).max())
    return ratio if np.abs(one - ratio * other).max() <= allowed else None


def _shown(one: Recurrence, found: _Found, comparison: Comparison) -> str:
    before = "t+1" if found.backwards else "t-1"
    mask = found.mask
    terms = [
        _times(one.state, f"y[{before}]", comparison),
        _times(one.masked_now, f"{mask}[t] * y[{before}]", comparison),
        _times(one.masked_before, f"{mask}[{before}] * y[{before}]", comparison),
        _times(one.now, f"{found.name}[t]", comparison),
        _times(one.before, f"{found.name}[{before}]", comparison),
    ]
    return "y[t] = " + (" + ".join(term for term in terms if term) or "0").replace("+ -", "- ")


def _times(number: float, what: str, comparison: Comparison) -> str:
    """Return a term, with the name of the input that its coefficient is; "" if that is 0."""
    if abs(number) <= SAME:
        return ""
    if abs(number - 1) <= SAME:
        return what
    if abs(number + 1) <= SAME:
        return f"-{what}"
    for name, value in _names(comparison):
        for sign in (1, -1):
            if abs(number - sign * value) <= SAME:
                return f"{'-' if sign < 0 else ''}{name} * {what}"
    return f"{number:.4g} * {what}"


def _names(comparison: Comparison) -> Iterator[tuple[str, float]]:
    """Yield what a coefficient may be."""
    for name, number in comparison.scalars():
        yield name, number
        if 0 < number < 1:
            yield f"(1 - {name})", 1 - number
