"""Causes: the answer is an update of an input, by a wrong step or from an old value."""

import re

from msgspec import Struct

from tutor.arrays import Floats, np
from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields

MANY = 4
"""Floats in an array, of which any two are a combination of two others."""

LARGE = 30
"""Updates smaller than this many times the rounding error are not evidence."""

CLEAR = 100
"""Errors must be this many times the rounding of what they are computed from."""

EXACT = 2e-3
"""Of an error, relative to its largest number."""

_KEY = re.compile(r"\['[^']*'\]")


def ratio_of(actual: Floats, expected: Floats) -> float:
    """Return the least-squares r for actual = r · expected; 0 if there is none."""
    size = float(np.sum(expected * expected))
    found = float(np.sum(actual * expected)) / size if size else 0.0
    return found if np.isfinite(found) else 0.0


def _entry(path: str) -> str:
    """Return the last key of a path, or the name of an input without entries."""
    return path[path.rfind("[") :] if "[" in path else path


# --- the whole step ---------------------------------------------------------------------------


class Step(Struct, frozen=True):
    """An input whose actual change is `ratio` times the expected one."""

    input: str
    ratio: float


def uphill(comparison: Comparison) -> Fields | None:
    """Recognise an update in the opposite direction."""
    found = step(comparison)
    return {"input": found.input} if found and abs(found.ratio + 1) < 1e-2 else None


def step(comparison: Comparison) -> Step | None:
    """Return the step that the wrong arrays have in common."""
    found: list[Step] = []
    # Every update of a single number is a multiple of the right one.
    for pair in (pair for pair in comparison.pairs if pair.expected.size > 1):
        if (one := _step(pair, comparison)) is None:
            return None
        found.append(one)
    if not found or any(abs(one.ratio / found[0].ratio - 1) > 1e-2 for one in found):
        return None
    return found[0] if abs(found[0].ratio - 1) > 1e-2 else None


def _step(pair: ArrayPair, comparison: Comparison) -> Step | None:
    rounding = 1e-6 * max(1.0, float(np.abs(pair.expected).max(initial=0.0)))
    found = [
        Step(name, ratio)
        for name, array in comparison.arrays()
        # A multiple of an input is not an update of it.
        if array.shape == pair.expected.shape and not _is_multiple(pair.expected, array)
        if (ratio := _update_ratio(pair.actual - array, pair.expected - array, rounding))
    ]
    if len(found) > 1:  # parameters, moments and gradients have the same shapes
        found = [one for one in found if _entry(one.input) == _entry(pair.path)] or found
    if len(found) == 2 and abs(found[0].ratio * found[1].ratio - 1) < 1e-2:
        found = found[:1]  # an average of two inputs
    return found[0] if len(found) == 1 else None


def _is_multiple(one: Floats, other: Floats) -> bool:
    """Return whether one array is a multiple of the other, or the same everywhere."""
    allowed = 1e-3 * float(np.abs(one).max())
    rest = np.abs(one - ratio_of(one, other) * other)
    return bool(np.ptp(one) <= allowed or rest.max() <= allowed)


def _update_ratio(update: Floats, wanted: Floats, rounding: float) -> float:
    """Return the ratio of two updates; 0 if it is not evidence."""
    number = ratio_of(update, wanted)
    size = float(np.abs(wanted).max(initial=0.0))
    if not number or size < LARGE * rounding or np.ptp(wanted) < 1e-2 * size:
        return 0.0
    # An update of almost zero fits anything.
    fits = np.abs(update - number * wanted).max() <= max(3 * rounding, 1e-3 * abs(number) * size)
    return number if fits and abs(number) > 1e-3 else 0.0


# --- a part of the step -----------------------------------------------------------------------


class Part(Struct, frozen=True):
    """An input that is kept in the right share, and to which `ratio` times what is expected is
    added: momentum that takes in too much or too little of the gradient, say."""

    input: str
    kept: str
    ratio: float


def part(comparison: Comparison) -> Part | None:
    """Return the part that all wrong arrays have in common."""
    found: list[tuple[str, float, float]] = []
    for pair in comparison.pairs:
        if (one := _part(pair, comparison)) is None:
            return None
        found.append(one)
    if not found:
        return None
    name, ratio, kept = found[0]
    if any(abs(r / ratio - 1) > 1e-2 or abs(k - kept) > 1e-2 for _, r, k in found):
        return None
    return Part(name, f"{kept:.3g}", ratio)


def _part(pair: ArrayPair, comparison: Comparison) -> tuple[str, float, float] | None:
    """Return an input, k and a for actual - a · input = k · (expected - a · input)."""
    both = np.stack([pair.expected, pair.actual])
    if pair.expected.size < MANY or not np.isfinite(both).all():
        return None
    for name, array in comparison.arrays():
        if array.shape != pair.expected.shape or not np.isfinite(array).all() or not np.ptp(array):
            continue
        if _entry(name) != _entry(pair.path) and "[" in name and "['" in pair.path:
            continue
        columns = np.stack([pair.expected.reshape(-1), array.reshape(-1)], axis=1)
        solved, _, rank, _ = np.linalg.lstsq(columns, pair.actual.reshape(-1), rcond=1e-6)
        if rank < 2:
            continue
        ratio, rest = (float(c) for c in solved)
        error = np.abs(columns @ solved - pair.actual.reshape(-1)).max()
        size = float(np.abs(pair.actual - pair.expected).max())
        if error > 1e-4 * size or abs(ratio - 1) < 1e-2 or abs(ratio) < 1e-3:
            continue
        kept = rest / (1 - ratio)
        # The update of something kept whole has causes of its own, and so has a multiple.
        if 1e-2 < kept < 1 - 1e-2 and _is_named(kept, comparison):
            return name, ratio, kept
    return None


def _is_named(number: float, comparison: Comparison) -> bool:
    """Return whether a share, or the rest of it, is in the code or among the inputs."""
    known = [float(text) for text in re.findall(r"\b0?\.\d{1,9}\b", comparison.source)]
    known += [value for _, value in comparison.scalars()]
    return any(abs(number - share) <= EXACT for one in known for share in (one, 1 - one))


# --- old values -------------------------------------------------------------------------------


def old_for_new(comparison: Comparison) -> Fields | None:
    """Recognise an error that is a multiple of the change of an input whose new value is right: it
    was used before its update instead of after it, or the reverse."""
    right = list(comparison.right())
    found: list[tuple[str, float]] = []
    for pair in comparison.pairs:
        one = [
            (name, ratio)
            for name, before in comparison.arrays()
            for path, after in right
            if before.shape == after.shape == pair.expected.shape
            and _versions(name, path, pair.path)
            and not _is_own_update(name, before, pair, comparison)
            and (ratio := _multiple(pair, before, after))
        ]
        if not one:
            return None
        found.append(one[0])
    if not found or any(abs(ratio / found[0][1] - 1) > 1e-2 for _, ratio in found):
        return None
    name, ratio = found[0]
    return {"input": name, "ratio": f"{abs(ratio):.3g}"}


def _versions(name: str, path: str, wrong: str) -> bool:
    """Return whether an input and results may be versions of one thing, by their last keys."""
    if "[" in name or "['" in path:
        one, other = _KEY.findall(name), _KEY.findall(path)
        shorter = min(len(one), len(other))
        if one[len(one) - shorter :] != other[len(other) - shorter :]:
            return False  # {"average": …} is not a version of {"params": …}
        return _entry(name) == _entry(path) and ("['" not in wrong or _entry(wrong) == _entry(path))
    return True


def _is_own_update(name: str, before: Floats, pair: ArrayPair, comparison: Comparison) -> bool:
    """Return whether a wrong array is an update of this very input, whose step is off then."""
    equal = sum(np.array_equal(before, array) for _, array in comparison.arrays())
    if equal != 1 or pair.fits(pair.actual, before):
        return False  # an average of the old value with itself is that value
    same = [(n, a) for n, a in comparison.arrays() if a.shape == pair.expected.shape]
    same = [(n, a) for n, a in same if _entry(n) == _entry(pair.path)] or same
    nearest = min(same, key=lambda one: float(np.abs(one[1] - pair.expected).sum()))
    return nearest[0] == name


def _multiple(pair: ArrayPair, before: Floats, after: Floats) -> float:
    """Return r for actual - expected = r · (after - before); 0 if that is not evidence."""
    error, change = pair.actual - pair.expected, after - before
    size = float(np.abs(error).max(initial=0.0))
    scale = max(float(np.abs(x).max(initial=0.0)) for x in (pair.expected, pair.actual))
    rounding = 3e-7 * max(scale, 1e-6)
    spread = float(np.abs(change).max(initial=0.0))
    if error.size < MANY or not spread or not np.isfinite(size + spread) or size < CLEAR * rounding:
        return 0.0
    largest = float(np.abs(np.maximum(before, after)).max(initial=0.0))
    if spread < 1e-5 * largest or np.ptp(change) < 1e-2 * spread:
        return 0.0
    ratio = ratio_of(error, change)
    return ratio if np.abs(error - ratio * change).max() <= max(3 * rounding, EXACT * size) else 0.0
