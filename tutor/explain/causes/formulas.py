"""Formulas that lessons ask for, with the variants that people write instead, in NumPy."""

from collections.abc import Iterator
from itertools import combinations, product

from tutor.explain.causes.comparison import Comparison, Numbers

Options = dict[str, str]
"""What a variant does, in words, by the kind of choice."""

Variants = Iterator[tuple[Options, tuple[Numbers, ...]]]

Shape = tuple[int, ...]

EPSILONS = {
    "1e-05 added to the variance": (1e-5, True),
    "1e-06 added to the variance": (1e-6, True),
    "0.001 added to the variance": (1e-3, True),
    "nothing added to the variance": (0.0, True),
    "1e-05 added to the deviation": (1e-5, False),
    "0.001 added to the deviation": (1e-3, False),
}
"""Whether a number is added before the root or after it."""

LARGE = 1 << 12
"""Limit of an array that is attended to or normalised in many ways."""

MAX_VARIANTS = 12
"""Combinations of inputs that a family tries."""


def attention(comparison: Comparison, shape: Shape) -> Iterator[Variants]:
    """Yield the variants of attention: of its scale, of the axis of its softmax, and of what it
    may look at."""
    arrays = [(n, a) for n, a in comparison.arrays() if 2 <= a.ndim <= 4 and 3 < a.size <= LARGE]
    count = 0
    for (_, q), (_, k), (_, v) in product(arrays, repeat=3):
        fits = (
            q.ndim == k.ndim == v.ndim == len(shape)
            and q.shape[:-2] == k.shape[:-2] == v.shape[:-2] == shape[:-2]
            and q.shape[-1] == k.shape[-1]
            and k.shape[-2] == v.shape[-2]
            and shape[-2:] == (q.shape[-2], v.shape[-1])
        )
        if fits and (q is not v or len(arrays) == 1) and count < MAX_VARIANTS:
            count += 1
            yield _attention(q, k, v, comparison)


def _attention(q: Numbers, k: Numbers, v: Numbers, comparison: Comparison) -> Variants:
    import numpy as np

    queries, keys, size = q.shape[-2], k.shape[-2], q.shape[-1]
    scales = {
        "scores divided by the root of the size of a key": size**-0.5,
        "scores that are not scaled": 1.0,
        "scores divided by the size of a key": 1 / size,
        "scores divided by the root of the number of keys": keys**-0.5,
        "scores divided by the root of the number of queries": queries**-0.5,
        "scores multiplied by the root of the size of a key": size**0.5,
    }
    axes = {"a softmax over the keys": -1, "a softmax over the queries": -2}
    added: list[tuple[str, Numbers | None]] = [("nothing added to the scores", None)]
    for name, array in comparison.arrays():
        if array.shape in ((keys,), (queries, keys)) and array.size > 1:
            if set(np.unique(array).tolist()) <= {0.0, 1.0}:
                low = np.where(array != 0, 0.0, -1e9), np.where(array != 0, -1e9, 0.0)
                added += [
                    (f"the keys where `{name}` is true", low[0]),
                    (f"the keys where `{name}` is false", low[1]),
                ]
            else:
                added.append((f"`{name}` added to the scores", array))
    if queries == keys:
        future = np.triu(np.full((queries, keys), -1e9), 1)
        added += [("no key after the query", future), ("no key before the query", future.T)]
    products = q @ np.swapaxes(k, -1, -2)
    for (scaled, scale), (over, axis), (plus, more) in product(scales.items(), axes.items(), added):
        scores = products * scale + (0.0 if more is None else more)
        powers = np.exp(scores - scores.max(axis, keepdims=True))
        weights = powers / powers.sum(axis, keepdims=True)
        yield {"scale": scaled, "axis": over, "mask": plus}, (weights @ v,)


def normalisation(comparison: Comparison, shape: Shape) -> Iterator[Variants]:
    """Yield the variants of a normalisation: of its axes, its epsilon, its variance, and of what
    it leaves out."""
    import numpy as np

    count = 0
    for _, x in comparison.arrays():
        if x.shape == shape and 2 <= x.ndim <= 4 and x.size <= LARGE and np.ptp(x) and count < 3:
            count += 1
            yield _normalised(x, comparison)


def _normalised(x: Numbers, comparison: Comparison) -> Variants:
    import numpy as np

    axes: dict[str, tuple[int, ...]] = {"statistics over the last axis": (-1,)}
    axes["statistics over the batch, axis 0"] = (0,)
    axes["statistics over all axes but the first"] = tuple(range(1, x.ndim))
    axes["statistics over all axes but the last"] = tuple(range(x.ndim - 1))
    axes["statistics over everything"] = tuple(range(x.ndim))
    width = x.shape[-1]
    weights = [(n, a) for n, a in comparison.arrays() if a.shape == (width,) and np.ptp(a)][:2]
    scales: list[tuple[str, Numbers | float]] = [("no scale", 1.0)]
    scales += [(f"the scale `{name}`", array) for name, array in weights]
    shifts: list[tuple[str, Numbers | float]] = [("no shift", 0.0)]
    shifts += [(f"the shift `{name}`", array) for name, array in weights]
    for (over, axis), (centred, less) in product(
        axes.items(), (("the mean subtracted", True), ("no mean subtracted", False))
    ):
        moved = x - x.mean(axis, keepdims=True) if less else x
        squares = (moved * moved).mean(axis, keepdims=True)
        count = moved.size // squares.size
        for (how, (epsilon, inside)), (divided, ddof) in product(
            EPSILONS.items(), (("divides by n", 0), ("divides by n - 1", 1))
        ):
            if count <= ddof:
                continue
            variance = squares * (count / (count - ddof))
            root = np.sqrt(variance + epsilon) if inside else np.sqrt(variance) + epsilon
            for (scaled, scale), (shifted, shift) in product(scales, shifts):
                options = {
                    "axes": over,
                    "mean": centred,
                    "epsilon": how,
                    "variance": f"a variance that {divided}",
                    "scale": scaled,
                    "shift": shifted,
                }
                yield options, (moved / root * scale + shift,)


def pooling(comparison: Comparison, shape: Shape) -> Iterator[Variants]:
    """Yield the maximum, the mean, the sum and the minimum of windows of an image."""
    for _, x in comparison.arrays():
        if x.ndim != 4 or len(shape) != 4 or x.shape[0] != shape[0]:
            continue
        for rows, columns in ((1, 2), (2, 3)):  # NHWC, NCHW
            high, wide = x.shape[rows] // shape[rows], x.shape[columns] // shape[columns]
            rest = {0, 1, 2, 3} - {rows, columns}
            if high * wide > 1 and all(x.shape[axis] == shape[axis] for axis in rest):
                yield _pooled(x, shape, rows, high, wide)


def _pooled(x: Numbers, shape: Shape, rows: int, high: int, wide: int) -> Variants:
    import numpy as np

    x = np.moveaxis(x, (rows, rows + 1), (2, 3))
    r, c = (shape[rows], shape[rows + 1])
    cut = x[:, :, : r * high, : c * wide].reshape(*x.shape[:2], r, high, c, wide)
    for name in ("max", "mean", "sum", "min"):
        found = getattr(np, name)(cut, axis=(3, 5))
        yield {"how": f"the {name} of each window"}, (np.moveaxis(found, (2, 3), (rows, rows + 1)),)


def cross_entropy(comparison: Comparison, shape: Shape) -> Iterator[Variants]:
    """Yield the variants of cross-entropy: of scores, probabilities, and its reduction."""
    import numpy as np

    if shape != ():
        return
    scores = [a for _, a in comparison.arrays() if a.ndim == 2 and a.shape[1] > 1 and np.ptp(a)]
    for x, (_, y) in product(scores[:3], comparison.arrays()):
        whole = y.shape == x.shape[:1] and not np.mod(y, 1).any()
        if whole and y.min(initial=0) >= 0 and y.max(initial=0) < x.shape[1]:
            yield entropy_variants(x, np.eye(x.shape[1])[y.astype(int)])


def entropy_variants(x: Numbers, targets: Numbers) -> Variants:
    """Yield the variants of the cross-entropy of scores and one-hot labels."""
    import numpy as np

    def log_softmax(z: Numbers, axis: int = -1) -> Numbers:
        z = z - z.max(axis, keepdims=True)
        result: Numbers = z - np.log(np.exp(z).sum(axis, keepdims=True))
        return result

    logs = {
        "one log-softmax over the classes": log_softmax(x),
        "the log-softmax of a softmax": log_softmax(np.exp(log_softmax(x))),
        "a log-softmax over the batch": log_softmax(x, 0),
        "probabilities without a logarithm": np.exp(log_softmax(x)),
        "the logarithm of the scores": np.log(np.where(x > 0, x, np.nan)),
        "scores as they are": x,
    }
    n, classes = x.shape
    labels = {
        "each row's own label": targets,
        "the label of the row before": np.roll(targets, 1, 0),
        "the label of the row after": np.roll(targets, -1, 0),
        "labels smoothed by 0.1": 0.9 * targets + 0.1 / classes,
    }
    sizes = {"the mean over rows": n, "the sum over rows": 1, "the mean over all entries": x.size}
    for (log, values), (label, one), (how, size) in product(
        logs.items(), labels.items(), sizes.items()
    ):
        total = -float((values * one).sum()) / size
        yield {"log": log, "label": label, "reduction": how}, (np.asarray(total),)


def errors(comparison: Comparison, shape: Shape) -> Iterator[Variants]:
    """Yield the variants of a mean squared error: of its power and its reduction."""
    import numpy as np

    if shape != ():
        return
    arrays = [a for _, a in comparison.arrays() if a.ndim and a.size > 2 and np.ptp(a)][:6]
    for p, y in combinations(arrays, 2):
        if p.shape == y.shape:
            yield _errors(p - y)


def _errors(errors: Numbers) -> Variants:
    import numpy as np

    for power, values in {"squares": errors * errors, "absolute values": np.abs(errors)}.items():
        results = {
            f"the mean of {power}": values.mean(),
            f"the sum of {power}": values.sum(),
            f"half the mean of {power}": values.mean() / 2,
            f"the sum of {power} over the number of rows": values.sum() / len(errors),
            f"the root of the mean of {power}": np.sqrt(values.mean()),
        }
        for how, result in results.items():
            yield {"how": how}, (np.asarray(result),)
