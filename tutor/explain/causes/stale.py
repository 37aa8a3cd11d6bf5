"""Causes: the answer is right but for a part that keeps, or scales, something it was given."""

import re

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers, real_numbers
from tutor.explain.causes.factors import named
from tutor.explain.causes.scaling import near
from tutor.explain.causes.updates import _entry
from tutor.tree import leaves

_KEY = re.compile(r"\['[^']*'\]")

MANY = 4
"""Numbers in an array, of which any two are a combination of two others."""

CLEAR = 100
"""Errors must be this many times the rounding of what they are computed from."""

EXACT = 2e-3
"""Of the error, relative to its largest number."""


def old_for_new(comparison: Comparison) -> Fields | None:
    """Recognise an error that is a multiple of the change of an input whose new value is right: it
    was used before its update instead of after it, or the reverse."""
    import numpy as np

    wrong = {pair.path for pair in comparison.pairs} | set(comparison.others)
    right = [
        (path, numbers)
        for path, leaf in leaves(comparison.expected)
        if path not in wrong and (numbers := real_numbers(leaf)) is not None
    ]
    found: list[tuple[str, float]] = []
    for pair in comparison.pairs:
        error = pair.actual - pair.expected
        one = [
            (name, ratio)
            for name, before in comparison.arrays()
            for path, after in right
            if before.shape == after.shape == error.shape
            and _alike(name, path, pair.path)
            and not _of_itself(name, before, pair, comparison)
            and (ratio := _multiple(error, after - before, pair, np.maximum(before, after)))
        ]
        if not one:
            return None
        found.append(one[0])
    if not found or any(abs(ratio / found[0][1] - 1) > 1e-2 for _, ratio in found):
        return None
    name, ratio = found[0]
    return {"input": name, "ratio": f"{abs(ratio):.3g}"}


def _alike(name: str, path: str, wrong: str) -> bool:
    """Return whether an input and results may be versions of one thing, by their last keys."""
    if "[" in name or "['" in path:
        one, other = _KEY.findall(name), _KEY.findall(path)
        shorter = min(len(one), len(other))
        if one[len(one) - shorter :] != other[len(other) - shorter :]:
            return False  # {"average": …} is not a version of {"params": …}
        return _entry(name) == _entry(path) and ("['" not in wrong or _entry(wrong) == _entry(path))
    return True


def _of_itself(name: str, before: Numbers, pair: ArrayPair, comparison: Comparison) -> bool:
    """Return whether a wrong array is an update of this very input, whose step is off then."""
    import numpy as np

    equal = sum(np.array_equal(before, array) for _, array in comparison.arrays())
    if equal != 1 or pair.fits(pair.actual, before):
        return False  # an average of the old value with itself is that value
    return any(own == name for own, _ in _nearest(pair, comparison)[:1])


def part_scaled(comparison: Comparison) -> Fields | None:
    """Recognise a result that keeps the right multiple of an input, and adds something that is off
    by a factor: momentum that takes in too much or too little of the gradient, say."""
    found: list[tuple[str, float, float]] = []
    for pair in comparison.pairs:
        one = _combination(pair, comparison)
        if one is None:
            return None
        found.append(one)
    if not found:
        return None
    name, ratio, kept = found[0]
    if any(abs(r / ratio - 1) > 1e-2 or abs(k - kept) > 1e-2 for _, r, k in found):
        return None
    # The update of something kept whole has causes of its own, and so has a multiple.
    if abs(kept) < 1e-2 or abs(kept - 1) < 1e-2 or not named(kept, comparison, EXACT):
        return None
    what = named(ratio, comparison, EXACT) or _counted(ratio, comparison)
    return {
        "input": name,
        "kept": f"{kept:.3g}",
        "ratio": f"{ratio:.3g}",
        "name": f", which is {what}" if what else "",
    }


def _counted(ratio: float, comparison: Comparison) -> str:
    for count, what in comparison.counts().items():
        if abs(ratio / count - 1) <= EXACT:
            return f"the size of {what}"
    return ""


def multiple_of_an_input(comparison: Comparison) -> Fields | None:
    """Recognise an error that is a small multiple of the array's own input, as weight decay is: too
    much of it, too little, or for an array that should have none."""
    import numpy as np

    found: list[tuple[str, float]] = []
    for pair in comparison.pairs:
        if any(np.array_equal(array, pair.expected) for _, array in comparison.arrays()):
            return None  # it should not have changed at all
        error = pair.actual - pair.expected
        one = [
            (name, ratio)
            for name, array in _own(pair, comparison)
            if not pair.fits(_projected(pair.expected, array), pair.expected)
            and (ratio := _multiple(error, array, pair, array))
            and abs(ratio) < 1
        ]
        if not one:
            return None
        found.append(one[0])
    if not found or any(abs(ratio / found[0][1] - 1) > 2e-2 for _, ratio in found):
        return None
    name, ratio = found[0]
    if not any(np.ptp(pair.expected) for pair in comparison.pairs):
        return None
    what = _product(abs(ratio), comparison)
    return {
        "input": name,
        "ratio": f"{abs(ratio):.3g}",
        "name": f" ({what})" if what else "",
        "how": "more" if ratio > 0 else "less",
    }


def _own(pair: ArrayPair, comparison: Comparison) -> list[tuple[str, Numbers]]:
    """Return the input that an array is an update of: of those with its key, or of all of its
    shape, the one that is nearest to it, if it is near."""
    import numpy as np

    nearest = _nearest(pair, comparison)
    size = float(np.abs(pair.expected).sum())
    return [one for one in nearest[:1] if float(np.abs(one[1] - pair.expected).sum()) < size / 2]


def _nearest(pair: ArrayPair, comparison: Comparison) -> list[tuple[str, Numbers]]:
    """Return the inputs with an array's key, or else those of its shape, the nearest one first."""
    import numpy as np

    alike = [(n, a) for n, a in comparison.arrays() if a.shape == pair.expected.shape]
    keyed = [(n, a) for n, a in alike if _entry(n) == _entry(pair.path)]
    return sorted(keyed or alike, key=lambda one: float(np.abs(one[1] - pair.expected).sum()))


def frozen_shrunk(comparison: Comparison) -> Fields | None:
    """Recognise inputs that should have come back unchanged, and are a little smaller in each of
    their numbers, as weight decay makes them."""
    import numpy as np

    ratios: list[tuple[str, float]] = []
    for pair in comparison.pairs:
        for name, array in comparison.arrays():
            if array.size < MANY or not np.ptp(array) or not np.array_equal(array, pair.expected):
                continue
            ratio = float((pair.actual * array).sum()) / float((array * array).sum())
            allowed = 1e-5 * float(np.abs(array).max())
            if not 0 < ratio < 1 or np.abs(pair.actual - ratio * array).max() > allowed:
                return None
            ratios.append((name, ratio))
            break
    if not ratios or not all(0.5 < ratio < 1 for _, ratio in ratios):
        return None
    return {"input": ratios[0][0], "ratio": f"{ratios[0][1]:.4g}"}


def _product(ratio: float, comparison: Comparison) -> str:
    """Return the two scalar inputs whose product a number is, or the one that it is."""
    scalars = comparison.scalars()
    for name, number in scalars:
        if near(ratio, abs(number)) or abs(ratio / number - 1) < EXACT:
            return f"`{name}`"
    for i, (name, one) in enumerate(scalars):
        for other, two in scalars[i + 1 :]:
            if abs(ratio / (one * two) - 1) < EXACT:
                return f"`{name}` times `{other}`"
    return ""


def _projected(one: Numbers, other: Numbers) -> Numbers:
    size = float((other * other).sum())
    return one if not size else float((one * other).sum()) / size * other


def _multiple(error: Numbers, what: Numbers, pair: ArrayPair, of: Numbers) -> float:
    """Return r for error = r · what; 0 if that is not evidence."""
    import numpy as np

    size = float(np.abs(error).max(initial=0.0))
    scale = max(float(np.abs(x).max(initial=0.0)) for x in (pair.expected, pair.actual))
    rounding = 3e-7 * max(scale, 1e-6)
    norm = float((what * what).sum())
    spread = float(np.abs(what).max(initial=0.0))
    if error.size < MANY or not norm or not np.isfinite(size + norm) or size < CLEAR * rounding:
        return 0.0
    if spread < 1e-5 * float(np.abs(of).max(initial=0.0)) or np.ptp(what) < 1e-2 * spread:
        return 0.0
    ratio = float((error * what).sum()) / norm
    allowed = max(3 * rounding, EXACT * size)
    return ratio if np.abs(error - ratio * what).max() <= allowed else 0.0


def _combination(pair: ArrayPair, comparison: Comparison) -> tuple[str, float, float] | None:
    """Return an input, k and a for actual - a · input = k · (expected - a · input)."""
    import numpy as np

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
        return name, ratio, rest / (1 - ratio)
    return None
