"""Recurrent cells as PyTorch computes them, with the variants that people write instead."""

from collections.abc import Iterator
from itertools import permutations, product

from tutor.explain.causes.comparison import Comparison, Numbers
from tutor.explain.causes.formulas import Shape, Variants


def _weights(comparison: Comparison, gates: int, size: int) -> Iterator[tuple[Numbers, ...]]:
    """Yield x, h, the two weights and the two biases of cells with so many gates."""
    arrays = comparison.arrays()
    tall = [(n, a) for n, a in arrays if a.ndim == 2 and a.shape[0] == gates * size]
    biases = [a for _, a in arrays if a.shape == (gates * size,)][:2]
    states = [a for _, a in arrays if a.ndim in (1, 2) and a.shape[-1] == size]
    if len(tall) != 2 or len(biases) != 2:
        return
    # PyTorch's names tell them apart where the shapes do not.
    (one_name, one), (other_name, other) = tall
    if other.shape[1] != size or ("hh" in one_name and "hh" not in other_name):
        one, other = other, one
    if other.shape[1] != size:
        return
    steps = [part for _, a in arrays if a.ndim == 3 for part in (a[:, 0], a[0])]
    inputs = [a for _, a in arrays if a.ndim in (1, 2)] + steps
    inputs = [a for a in inputs if a.shape[-1] == one.shape[1]]
    for x, h in product(inputs, states):
        if x is not h and x.ndim == h.ndim and x.shape[:-1] == h.shape[:-1]:
            yield x, h, one, other, biases[0], biases[1]


def _sigmoid(x: Numbers) -> Numbers:
    import numpy as np

    result: Numbers = 1 / (1 + np.exp(-x))
    return result


def lstm(comparison: Comparison, shape: Shape) -> Iterator[Variants]:
    """Yield the variants of an LSTM's step: of the order of its gates and of its biases."""
    if not shape:
        return
    cells = [a for _, a in comparison.arrays() if a.shape == shape]
    for x, h, wx, wh, bx, bh in _weights(comparison, 4, shape[-1]):
        for c in cells:
            if c is not h and c is not x and c.shape == h.shape:
                yield _lstm(x, h, c, wx, wh, bx, bh)


def _lstm(
    x: Numbers, h: Numbers, c: Numbers, wx: Numbers, wh: Numbers, bx: Numbers, bh: Numbers
) -> Variants:
    import numpy as np

    parts = x @ wx.T + h @ wh.T
    biases = {
        "both biases": bx + bh,
        "only the bias of the input": bx,
        "only the bias of the state": bh,
        "no bias": 0.0 * bx,
    }
    for (name, bias), order in product(biases.items(), permutations("ifgo")):
        gates = dict(zip(order, np.split(parts + bias, 4, axis=-1), strict=True))
        kept = _sigmoid(gates["f"]) * c + _sigmoid(gates["i"]) * np.tanh(gates["g"])
        for how, seen in (("the tanh of the cell", np.tanh(kept)), ("the cell itself", kept)):
            out = _sigmoid(gates["o"]) * seen
            options = {
                "bias": name,
                "order": f"the gates in the order {', '.join(order)}",
                "output": f"{how} in the output",
            }
            yield options, (out, kept)


def gru(comparison: Comparison, shape: Shape) -> Iterator[Variants]:
    """Yield the variants of a GRU's step: of its gates, of its biases, and of where it resets."""
    if not shape:
        return
    for x, h, wx, wh, bx, bh in _weights(comparison, 3, shape[-1]):
        if h.shape == shape:
            yield _gru(x, h, wx, wh, bx, bh)


def _gru(x: Numbers, h: Numbers, wx: Numbers, wh: Numbers, bx: Numbers, bh: Numbers) -> Variants:
    import numpy as np

    for order in permutations("rzn"):
        at = {name: slice(i * len(wx) // 3, (i + 1) * len(wx) // 3) for i, name in enumerate(order)}

        def part(
            name: str, at: dict[str, slice] = at, state: Numbers = h
        ) -> tuple[Numbers, Numbers]:
            rows = at[name]
            return x @ wx[rows].T + bx[rows], state @ wh[rows].T

        bias = {name: bh[rows] for name, rows in at.items()}
        r = _sigmoid(sum(part("r")) + bias["r"])
        z = _sigmoid(sum(part("z")) + bias["z"])
        from_input, from_state = part("n")
        news = {
            "the reset gate on the product, with its bias": r * (from_state + bias["n"]),
            "the reset gate on the product, without its bias": r * from_state + bias["n"],
            "the reset gate on the state, before the product": part("n", state=r * h)[1]
            + bias["n"],
            "no reset gate": from_state + bias["n"],
        }
        for where, more in news.items():
            new = np.tanh(from_input + more)
            for keeps, result in (
                ("the old state", (1 - z) * new + z * h),
                ("the new state", z * new + (1 - z) * h),
            ):
                yield (
                    {
                        "order": f"the gates in the order {', '.join(order)}",
                        "reset": where,
                        "update": f"an update gate that keeps {keeps}",
                    },
                    (result,),
                )
