"""Whether a call that was looked at gave what an ordinary call gives.

Evidence (which operations a trace has, which keys were consumed, what was compiled) is of one call.
It says something about an answer only if that call gave what the answer gives. The two may be
compiled differently, and a training multiplies rounding errors, so this is lenient: code that
behaves differently when it is looked at gives something else altogether.
"""

from tutor.arrays import Array, np
from tutor.check import Finding
from tutor.checks.compare import compare, words
from tutor.tree import ABSENT, Leaf, Tree, paired

DIFFERENCE = 0.01
"""How far numbers may be apart, relative to the largest of them."""

NOISE = 1e-5
"""How far they may be apart at least: what is left where numbers near 1 cancel."""

SHARE = 0.1
"""Share of an array's numbers that may be further apart."""


def otherwise(ordinary: Tree, observed: Tree, how: str) -> Finding | None:
    """Return a finding if a call gave something else when it was looked at.

    **Arguments:** `how`: what was done with it, as in `traced for its operations`.
    """
    if agree(ordinary, observed):
        return None
    mismatch = compare(ordinary, observed)
    differs = f": {words(mismatch)}" if mismatch is not None else ""
    return Finding(
        f"the call gives something else when it is {how}{differs}",
        mismatch,
        code="other-when-observed",
    )


def agree(one: Tree, other: Tree) -> bool:
    """Return whether two results of one call agree, up to rounding."""
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        return _near(one, other)
    entries = paired(one, other)
    if entries is None:
        return type(one) is type(other) and one == other
    return all(a is not ABSENT and b is not ABSENT and agree(a, b) for a, b in entries.values())


def _near(one: Leaf, other: Leaf) -> bool:
    if one.array is None or other.array is None:
        return one.array is other.array
    if one.array.shape != other.array.shape:
        return False
    with np.errstate(all="ignore"):
        a, b = _wide(one), _wide(other)
        gap = np.abs(a - b)
        finite = np.abs(a[np.isfinite(a)])
        allowed = max(NOISE, DIFFERENCE * float(finite.max(initial=0.0)))
        if "key" in (one.type, other.type):
            allowed = 0.0
        elif one.array.dtype.kind in "iu":
            allowed = max(allowed, 1.0)  # a loop that ends when something is small enough
        far = ~((gap <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b)))
    return float(far.mean()) <= SHARE if far.size else True


def _wide(leaf: Leaf) -> Array:
    kind = leaf.values.dtype.kind
    return leaf.values.astype(np.complex128 if kind == "c" else np.float64)
