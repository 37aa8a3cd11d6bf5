"""Draws with a structure that code relies on: sorted rows, positive definite matrices, padded
tokens, graphs and others."""

from collections.abc import Sequence
from math import prod

from tutor.arrays import Floats, np
from tutor.inputs.arithmetic import Number
from tutor.inputs.drawing import (
    DrawError,
    Stream,
    array,
    in_order,
    least_and_most,
    shape_of,
    whole_numbers,
)
from tutor.tree import Leaf, Tree

MAX_ROWS = 512
"""Rows of a matrix that is decomposed, which takes time in proportion to their cube."""

MAX_CONDITION = 10_000
"""Condition number of a matrix; float32 cannot show that a worse one is positive definite."""

MAX_EDGES = 100_000

WAVES = 3
"""Waves that add up to an image, each with at most `CYCLES` cycles from edge to edge."""

CYCLES = 1.5


def sorted_rows(
    source: Stream, *arguments: Number, low: float = 0, high: float = 1, dtype: str = "float32"
) -> Leaf:
    in_order("sorted", low, high)
    shape = shape_of(arguments)
    if dtype not in ("int32", "uint8"):
        return array(np.sort(source.random.uniform(low, high, shape)), dtype)
    least, most = least_and_most(low, high)
    bounds = np.iinfo(dtype)
    if least < bounds.min or most > bounds.max:
        raise DrawError(f"{dtype} holds no numbers from {least} to {most}")
    return array(np.sort(whole_numbers(source, least, most, shape)), dtype)


def one_hot(source: Stream, *arguments: Number, dtype: str = "float32") -> Leaf:
    *rows, classes = shape_of(arguments)
    _refuse_empty("one_hot", classes, "class")
    labels = whole_numbers(source, 0, classes - 1, tuple(rows))
    return array(labels[..., None] == np.arange(classes), dtype)


def orthogonal(source: Stream, *arguments: Number) -> Leaf:
    return array(_orthogonal(source, arguments), "float32")


def spd(source: Stream, *arguments: Number, condition: float = 10, scale: float = 1) -> Leaf:
    if not 1 <= condition <= MAX_CONDITION:
        raise DrawError(f"condition must be from 1 to {MAX_CONDITION:,}, got {condition:g}")
    if not 1e-30 <= scale <= 1e30:
        raise DrawError(f"scale must be from 1e-30 to 1e30, got {scale:g}")
    vectors = _orthogonal(source, arguments)
    *batch, n, _ = vectors.shape
    # One eigenvalue in each part of the range, away from its ends: none are close to each other,
    # where the gradients of decompositions become large, and rounding cannot exceed the bounds.
    parts = (np.arange(n) + source.random.uniform(0.25, 0.75, (*batch, n))) / max(n, 1)
    eigenvalues = scale * (1 + (condition - 1) * parts)
    matrix = (vectors * eigenvalues[..., None, :]) @ vectors.swapaxes(-1, -2)
    return array((matrix + matrix.swapaxes(-1, -2)) / 2, "float32")


def _orthogonal(source: Stream, arguments: Sequence[Number]) -> Floats:
    """Return orthogonal matrices, uniformly distributed."""
    shape = shape_of([*arguments, arguments[-1]])
    if shape[-1] > MAX_ROWS:
        raise DrawError(f"{shape[-1]:,} rows; at most {MAX_ROWS} may be drawn")
    q, r = np.linalg.qr(source.random.normal(size=shape))
    # QR is unique only with a positive diagonal; without this, some matrices never occur.
    signs = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    matrices: Floats = q * signs[..., None, :]
    return matrices


def mask(source: Stream, *arguments: Number, p: float = 0.5, dtype: str = "bool") -> Leaf:
    if not 0 <= p <= 1:
        raise DrawError(f"p must be from 0 to 1, got {p:g}")
    *shape, length = shape_of(arguments)
    _refuse_empty("mask", length, "element")
    values = source.random.random((prod(shape), length)) < p
    rows = np.arange(len(values))
    shown, hidden = source.random.integers(0, length, (2, len(values)))
    empty, full = ~values.any(axis=1), values.all(axis=1)
    values[rows[empty], shown[empty]] = True
    if source.first and length > 1:
        values[rows[full], hidden[full]] = False
    return array(values.reshape(*shape, length), dtype)


def tokens(source: Stream, vocabulary: Number, *dimensions: Number) -> Leaf:
    most = int(vocabulary) - 1
    if not 1 <= most < 2**31:
        raise DrawError(f"a vocabulary must have 2 to 2**31 ids, 0 for padding; got {vocabulary:g}")
    *shape, longest = shape_of(dimensions)
    _refuse_empty("tokens", longest, "token")
    count = prod(shape)
    inner = 0 if source.first or most < 3 else 1
    ids = source.random.integers(1 + inner, most - inner, (count, longest), endpoint=True)
    ends = source.random.integers(1, longest, count, endpoint=True)
    if count:
        full = int(source.random.integers(count))
        if source.first and count > 1 and longest > 1:  # the first case has padding
            ends[full - 1] = source.random.integers(1, longest)
        ends[full] = longest
    present = np.arange(longest) < ends[:, None]
    places = np.flatnonzero(present)
    if not inner and len(places) > 1:
        ids.flat[source.random.choice(places, 2, replace=False)] = 1, most
    return array(np.where(present, ids, 0).reshape(*shape, longest), "int32")


def lengths(source: Stream, n: Number, longest: Number) -> Leaf:
    if not 1 <= longest < 2**31:
        raise DrawError(f"the longest must be from 1 to 2**31, got {longest:g}")
    return array(whole_numbers(source, 1, int(longest), shape_of([n])), "int32")


def images(source: Stream, *arguments: Number, dtype: str = "float32") -> Leaf:
    """Waves of low frequency, so that neighbouring pixels are similar, as in photographs."""
    shape = shape_of(arguments)
    *batch, height, width, channels = shape
    each = (prod(batch), 1, 1, channels)
    down = np.arange(height)[:, None, None] / max(height, 1)
    across = np.arange(width)[:, None] / max(width, 1)
    values: Floats = np.zeros((each[0], height, width, channels))
    total = np.zeros(each)
    for _ in range(WAVES):
        weight = source.random.uniform(0.5, 1, each)
        vertical, horizontal = source.random.uniform(-CYCLES, CYCLES, (2, *each))
        phase = source.random.uniform(0, 1, each)
        cycles = vertical * down + horizontal * across + phase
        values += weight * np.cos(2 * np.pi * cycles)
        total += weight
    values = (0.5 + 0.5 * values / total).clip(0, 1).reshape(shape)
    return array((255 * values).round() if dtype == "uint8" else values, dtype)


def graph(source: Stream, nodes: Number, edges: Number) -> Tree:
    """An edge is numbered by its receiver, and among those of one receiver by its sender."""
    (nodes,), (edges,) = shape_of([nodes]), shape_of([edges])
    possible = nodes * max(nodes - 1, 0)
    if edges > min(possible, MAX_EDGES):
        limit = f"{nodes} nodes have {possible:,} without duplicates and self-loops"
        limit = limit if possible < MAX_EDGES else f"at most {MAX_EDGES:,} may be drawn"
        raise DrawError(f"{edges:,} edges; {limit}")
    random, others = source.random, max(nodes - 1, 0)
    before = others**2
    """Edges that the last node does not receive."""
    if source.first:
        # Code that numbers the nodes wrongly, or lets one edge overwrite another, fails here.
        chosen = before + random.choice(others, min(2, others, edges), replace=False)
        rest = random.choice(possible - len(chosen), edges - len(chosen), replace=False)
        for one in np.sort(chosen):
            rest += rest >= one
        chosen = random.permutation(np.concatenate([chosen, rest]))
    else:
        # Code that takes the last receiver for the last node fails here.
        chosen = random.choice(before if edges <= before else possible, edges, replace=False)
    receivers, senders = np.divmod(chosen, max(others, 1))
    senders += senders >= receivers
    return {"senders": array(senders, "int32"), "receivers": array(receivers, "int32")}


def _refuse_empty(name: str, length: int, what: str) -> None:
    if length < 1:
        raise DrawError(f"{name}: a row must have at least one {what}")
