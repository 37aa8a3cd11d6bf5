"""Networks of dense layers as PyTorch computes them, and the variants that people write instead."""

from collections.abc import Callable, Iterator
from itertools import pairwise, product

from tutor.explain.causes.comparison import Comparison, Numbers
from tutor.explain.causes.formulas import Shape, Variants, entropy_variants
from tutor.tree import leaves

MAX_LAYERS = 6

MAX_SIZE = 1 << 14
"""Limit of the batch."""


def dense(comparison: Comparison, shape: Shape) -> Iterator[Variants]:
    """Yield the variants of a network of dense layers, and of its cross-entropy: of activations,
    of biases, and of square weights."""
    for name, tree in comparison.inputs.items():
        known = dict(comparison.arrays())
        paths = [f"{name}{path}" for path, _ in leaves(tree)]
        arrays = [(path, known[path]) for path in paths if path in known]
        weights = [(path, a) for path, a in arrays if a.ndim == 2]
        biases = [a for _, a in arrays if a.ndim == 1]
        if not 1 < len(weights) == len(biases) <= MAX_LAYERS or len(arrays) != 2 * len(weights):
            continue
        for other, x in comparison.arrays():
            scores = (len(x), len(biases[-1])) if x.ndim == 2 else None
            if other in paths or scores is None or x.size > MAX_SIZE or shape not in (scores, ()):
                continue
            for torch in (True, False):
                layers = [(path, w.T if torch else w) for path, w in weights]
                sizes = [x.shape[1], *(len(b) for b in biases)]
                if all(
                    w.shape == size for (_, w), size in zip(layers, pairwise(sizes), strict=True)
                ):
                    yield from _results(x, layers, biases, comparison, shape)


def _results(
    x: Numbers,
    layers: list[tuple[str, Numbers]],
    biases: list[Numbers],
    comparison: Comparison,
    shape: Shape,
) -> Iterator[Variants]:
    import numpy as np

    outputs = list(_networks(x, layers, biases))
    if outputs[0][1].shape == shape:
        yield ((options, (result,)) for options, result in outputs)
    if shape != ():
        return
    classes = len(biases[-1])
    for _, y in comparison.arrays():
        if y.shape != x.shape[:1] or np.mod(y, 1).any() or y.min() < 0 or y.max() >= classes:
            continue
        targets = np.eye(classes)[y.astype(int)]
        yield (
            ({**options, **loss}, value)
            for options, result in outputs
            for loss, value in entropy_variants(result, targets)
        )


def _networks(
    x: Numbers, layers: list[tuple[str, Numbers]], biases: list[Numbers]
) -> Iterator[tuple[dict[str, str], Numbers]]:
    import numpy as np

    square = [path for path, w in layers if w.shape[0] == w.shape[1]]
    functions: dict[str, Callable[[Numbers], Numbers]]
    functions = {"relu": lambda z: np.maximum(z, 0.0), "tanh": np.tanh}
    last = len(layers) - 1
    between = {
        "an activation after each layer but the last": range(last),
        "an activation after the last layer, too": range(last + 1),
        "no activation after the layer before the last": range(last - 1),
        "no activation": range(0),
    }
    for (activation, function), (where, after), turned, biased in product(
        functions.items(), between.items(), ["", *square], (True, False)
    ):
        h = x
        for number, ((path, w), b) in enumerate(zip(layers, biases, strict=True)):
            h = h @ (w.T if path == turned else w) + (b if biased else 0.0)
            h = function(h) if number in after else h
        weight = f"`{turned}` not transposed" if turned else "every weight as PyTorch has it"
        options = {
            "activation": f"the `{activation}`",
            "where": where,
            "weight": weight,
            "bias": "the biases" if biased else "no biases",
        }
        yield options, h
