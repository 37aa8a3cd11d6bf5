"""Causes: the expected result is a well-known formula of the inputs, and the answer a variant."""

from collections.abc import Callable, Iterator
from itertools import pairwise, permutations, product

from tutor.arrays import Floats, np
from tutor.explain.causes.comparison import Comparison, Fields
from tutor.tree import leaves

Options = dict[str, str]
"""What a variant does, in words, by the kind of choice."""

Variants = Iterator[tuple[Options, tuple[Floats, ...]]]
"""Options and the arrays of the answer, of variants among which is the right one."""

MAX_SIZE = 1 << 17
"""Limit of all inputs together; larger ones would take too long."""

MAX_LAYERS = 6


def another_cell(comparison: Comparison) -> Fields | None:
    """Recognise the step of an LSTM with its gates in another order, or without a bias."""
    return _variant(comparison, _lstms)


def another_network(comparison: Comparison) -> Fields | None:
    """Recognise dense layers with an activation too many or too few, a square weight that is not
    transposed, or without biases."""
    return _variant(comparison, _networks)


def _variant(
    comparison: Comparison, family: Callable[[Comparison], Iterator[Variants]]
) -> Fields | None:
    """Return how the answer differs from the expected formula, if they are variants of a family."""
    if not comparison.pairs or sum(array.size for _, array in comparison.arrays()) > MAX_SIZE:
        return None
    answers = [path for path, _ in leaves(comparison.expected)]
    for variants in family(comparison):
        right: Options | None = None
        wrong: list[Options] = []
        for options, results in variants:
            if len(results) != len(answers):
                continue
            known = dict(zip(answers, results, strict=True))
            there = [(pair, known[pair.path]) for pair in comparison.pairs]
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


def _changed(one: Options, other: Options) -> list[str]:
    """Return the words for what differs from another variant."""
    return [words for kind, words in one.items() if other[kind] != words]


# --- LSTM -------------------------------------------------------------------------------------


def _lstms(comparison: Comparison) -> Iterator[Variants]:
    """Yield the variants of an LSTM's step for inputs that fit together as PyTorch has them."""
    arrays = comparison.arrays()
    shape = comparison.pairs[0].expected.shape
    if not shape:
        return
    size = shape[-1]
    tall = [(n, a) for n, a in arrays if a.ndim == 2 and a.shape[0] == 4 * size]
    biases = [a for _, a in arrays if a.shape == (4 * size,)]
    if len(tall) != 2 or len(biases) != 2:
        return
    # PyTorch's names tell them apart where the shapes do not.
    (one_name, wx), (other_name, wh) = tall
    if wh.shape[1] != size or ("hh" in one_name and "hh" not in other_name):
        wx, wh = wh, wx
    states = [a for _, a in arrays if a.shape == shape]
    # A sequence's first step may be what the cell gets.
    steps = [one for _, a in arrays if a.ndim == 3 for one in (a[:, 0], a[0])]
    inputs = [a for _, a in arrays] + steps
    inputs = [a for a in inputs if a.shape == (*shape[:-1], wx.shape[1])]
    if wh.shape[1] == size:
        for x, h, c in product(inputs, states, states):
            if x is not h and h is not c and x is not c:
                yield _lstm(x @ wx.T + h @ wh.T, c, *biases)


def _lstm(parts: Floats, c: Floats, bx: Floats, bh: Floats) -> Variants:
    def sigmoid(x: Floats) -> Floats:
        result: Floats = 1 / (1 + np.exp(-x))
        return result

    biases = {
        "both biases": bx + bh,
        "only the bias of the input": bx,
        "only the bias of the state": bh,
        "no bias": 0.0 * bx,
    }
    for (name, bias), order in product(biases.items(), permutations("ifgo")):
        gates = dict(zip(order, np.split(parts + bias, 4, axis=-1), strict=True))
        kept = sigmoid(gates["f"]) * c + sigmoid(gates["i"]) * np.tanh(gates["g"])
        options = {"bias": name, "order": f"the gates in the order {', '.join(order)}"}
        yield options, (sigmoid(gates["o"]) * np.tanh(kept), kept)


# --- dense layers -----------------------------------------------------------------------------


def _networks(comparison: Comparison) -> Iterator[Variants]:
    """Yield the variants of networks of dense layers, and of their cross-entropy."""
    shape, arrays = comparison.pairs[0].expected.shape, comparison.arrays()
    for name, tree in comparison.inputs.items():
        paths = [f"{name}{path}" for path, _ in leaves(tree)]
        own = [(path, array) for path, array in arrays if path in paths]
        weights = [(path, a) for path, a in own if a.ndim == 2]
        biases = [a for _, a in own if a.ndim == 1]
        if not 1 < len(weights) == len(biases) <= MAX_LAYERS or len(own) != 2 * len(weights):
            continue
        for other, x in arrays:
            if other in paths or x.ndim != 2:
                continue
            sizes = [*pairwise([x.shape[1], *(len(b) for b in biases)])]
            for layers in ([(path, w.T) for path, w in weights], weights):
                if [w.shape for _, w in layers] == sizes:
                    if shape == (len(x), len(biases[-1])):
                        yield ((how, (y,)) for how, y in _network(x, layers, biases))
                    if shape == ():
                        yield from _losses(x, layers, biases, arrays)


def _losses(
    x: Floats,
    layers: list[tuple[str, Floats]],
    biases: list[Floats],
    arrays: list[tuple[str, Floats]],
) -> Iterator[Variants]:
    def variants(labels: Floats) -> Variants:
        for how, scores in _network(x, layers, biases):
            z = scores - scores.max(-1, keepdims=True)
            logs = z - np.log(np.exp(z).sum(-1, keepdims=True))
            losses = -logs[np.arange(len(labels)), labels.astype(int)]
            yield {**how, "reduction": "the mean"}, (losses.mean(),)
            yield {**how, "reduction": "the sum"}, (losses.sum(),)

    for _, y in arrays:
        if y.shape != x.shape[:1] or np.mod(y, 1).any():
            continue
        if y.min() >= 0 and y.max() < len(biases[-1]):
            yield variants(y)


def _network(
    x: Floats, layers: list[tuple[str, Floats]], biases: list[Floats]
) -> Iterator[tuple[Options, Floats]]:
    square = [path for path, w in layers if w.shape[0] == w.shape[1]]
    last = len(layers) - 1
    between = {
        "an activation after each layer but the last": range(last),
        "an activation after the last layer, too": range(last + 1),
        "no activation after the layer before the last": range(last - 1),
        "no activation": range(0),
    }
    for name, (where, after), turned, biased in product(
        ("relu", "tanh"), between.items(), ["", *square], (True, False)
    ):
        h = x
        for number, ((path, w), b) in enumerate(zip(layers, biases, strict=True)):
            h = h @ (w.T if path == turned else w) + (b if biased else 0.0)
            if number in after:
                h = np.tanh(h) if name == "tanh" else np.maximum(h, 0.0)
        options = {
            "activation": f"the `{name}`",
            "where": where,
            "weight": f"`{turned}` not transposed" if turned else "every weight as PyTorch has it",
            "bias": "the biases" if biased else "no biases",
        }
        yield options, h
