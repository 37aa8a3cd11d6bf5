"""Compare trees of arrays and describe how they differ.

Runs in the main process, on data alone. Numbers are compared by scaled error (see `scale`):

    max|actual - expected| ≤ tolerance · max(1, max|expected|)

Elementwise relative error would fail right answers: where a sum cancels, two right float32 results
can differ in every digit.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

from msgspec.structs import replace

from tutor.arrays import Array, np
from tutor.check import DEFAULT_TOLERANCE
from tutor.checks.branches import branches
from tutor.checks.error_map import error_map
from tutor.checks.patterns import pattern
from tutor.checks.scale import scales
from tutor.foreign.plain_text import cut
from tutor.report import Entry, Mismatch, MismatchKind, Side
from tutor.tree import ABSENT, PYTHON_NUMBERS, Leaf, Tree, brief, paired

ENTRIES = 8
"""Wrong elements that a mismatch lists."""

EXACT = 17
"""Digits that tell any two numbers apart."""


def compare(
    expected: Tree, actual: Tree, tolerance: float | None = None, *, times: float = 1.0
) -> Mismatch | None:
    """Return the first mismatch between `actual` and `expected`, or None.

    Lists equal tuples (PyTorch and JAX differ in which they return), Python numbers equal 0-d
    arrays, and dtypes are ignored: checking them is the job of `shape`.

    **Arguments:** `tolerance`: allowed scaled error; by default `times` that of the expected dtype.
    """
    mismatch = _first(expected, actual, tolerance, times)
    if mismatch is None or isinstance(expected, Leaf):
        return mismatch

    def differ(one: Tree, other: Tree) -> str:
        return _in_short(one, other, tolerance, times)

    return replace(mismatch, tree=branches(expected, actual, differ))


def _first(
    expected: Tree, actual: Tree, tolerance: float | None, times: float, path: str = ""
) -> Mismatch | None:
    """Return the first mismatch, without the whole tree."""
    if isinstance(expected, Leaf) and isinstance(actual, Leaf):
        if kind := _unlike(expected, actual):
            return _mismatch(kind, path, expected, actual)
        errors = _errors(expected, actual, _allowed(expected, actual, tolerance, times))
        return _numbers(expected, actual, errors, path) if errors.wrong.any() else None
    entries = paired(expected, actual)
    if entries is None and type(expected) is type(actual) and expected == actual:
        return None
    if entries is None or any(a is ABSENT or b is ABSENT for a, b in entries.values()):
        if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
            # Their number is what differs.
            return Mismatch("structure", path, Side(_values(expected)), Side(_values(actual)))
        return _mismatch("structure", path, expected, actual)
    compared = (
        _first(*pair, tolerance, times, f"{path}[{key!r}]") for key, pair in entries.items()
    )
    return next(filter(None, compared), None)


def _in_short(expected: Tree, actual: Tree, tolerance: float | None, times: float) -> str:
    """Return how two entries of a tree differ, for its picture; "" if they agree."""
    if not isinstance(expected, Leaf) or not isinstance(actual, Leaf):
        mismatch = _first(expected, actual, tolerance, times)
        return f"{brief(actual)}, expected {brief(expected)}" if mismatch else ""
    if kind := _unlike(expected, actual):
        if kind == "shape":
            return f"shape {_shape(actual.values.shape)}, expected {_shape(expected.values.shape)}"
        return f"{brief(actual)}, expected {brief(expected)}"
    errors = _errors(expected, actual, _allowed(expected, actual, tolerance, times))
    wrong = int(errors.wrong.sum())
    if not wrong:
        return ""
    if errors.error.size == 1:
        want, got = _shown(expected, errors.want), _shown(actual, errors.got)
        expects, has = apart(want[0], got[0])
        return f"{has}, expected {expects}"
    largest = float(errors.error[errors.wrong].max())
    by = f"by {'at most ' if wrong > 1 else ''}{number(largest)}"
    how = f", {by}" if isfinite(largest) else "; NaN or infinite"
    return f"{brief(actual)}: {wrong} of {errors.error.size} differ{how}"


def _unlike(expected: Leaf, actual: Leaf) -> MismatchKind | None:
    """Return why the numbers of two leaves cannot be compared."""
    if actual.array is None or expected.array is None:
        return "type"
    if (expected.type == "key") != (actual.type == "key"):
        return "type"
    return "shape" if expected.array.shape != actual.array.shape else None


def _allowed(expected: Leaf, actual: Leaf, tolerance: float | None, times: float) -> float:
    """Return the allowed scaled error of two leaves; 0 for integers and keys."""
    if expected.type == "key" or (_integral(expected.values) and _integral(actual.values)):
        return 0.0
    return times * tolerance_for(expected) if tolerance is None else tolerance


def tolerance_for(expected: Leaf) -> float:
    """Return the default tolerance of the expected dtype. The dtype of the answer does not matter:
    a cast to bfloat16 must not loosen the comparison."""
    return DEFAULT_TOLERANCE.get(expected.values.dtype.name, DEFAULT_TOLERANCE["float32"])


def _integral(array: Array) -> bool:
    return array.dtype.kind in "biu"


def _wide(array: Array) -> Array:
    """Convert to a dtype in which differences are exact enough (bfloat16 is of kind V)."""
    if array.dtype.kind in "biu":
        return array.astype(np.longdouble)
    with np.errstate(invalid="ignore"):  # some NaN of bfloat16
        return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


class _Errors(NamedTuple):
    """Two arrays of one shape as wide numbers, how far they are apart, and how far they may be."""

    want: Array
    got: Array
    error: Array
    scale: Array
    tolerance: float

    @property
    def limit(self) -> Array:
        return self.tolerance * self.scale

    @property
    def wrong(self) -> Array:
        return self.error > self.limit


def _errors(expected: Leaf, actual: Leaf, tolerance: float) -> _Errors:
    want, got = _wide(expected.values), _wide(actual.values)
    with np.errstate(invalid="ignore", over="ignore"):
        scale = scales(np.abs(want).astype(np.float64))
        if _integral(expected.values) and _integral(actual.values):
            # On some machines a long double is only a double.
            error = np.where(
                expected.values == actual.values, 0.0, np.maximum(np.abs(got - want), 1.0)
            )
        elif np.iscomplexobj(want) or np.iscomplexobj(got):
            # Compare parts: nan+1j is not nan+999j.
            error = np.hypot(_distance(want.real, got.real), _distance(want.imag, got.imag))
        else:
            error = _distance(want, got)
    return _Errors(want, got, error, scale, tolerance)


def _numbers(expected: Leaf, actual: Leaf, errors: _Errors, path: str) -> Mismatch:
    """Describe how the numbers of two leaves differ."""
    want, got, error, scale, _ = errors
    limit, wrong = errors.limit, errors.wrong
    where = _index(int(np.argmax(np.where(wrong, error, -1.0))), error.shape)
    bad = np.flatnonzero(wrong)
    nan = bool((np.isnan(got) & ~np.isnan(want)).any())
    if nan:
        first_nan = int(np.flatnonzero(np.isnan(got) & ~np.isnan(want))[0])
        where = _index(first_nan, error.shape)
    largest = float(error[wrong].max())
    flat_error = error.ravel()
    # Of equally wrong elements the first.
    worst = bad[np.argsort(-flat_error[bad], kind="stable")][:ENTRIES]
    flat_want, flat_got = _shown(expected, want), _shown(actual, got)
    return Mismatch(
        kind="nan" if nan else "value",
        path=path,
        expected=_side(expected),
        actual=_side(actual),
        max_error=largest if np.isfinite(largest) else None,
        tolerance=float(limit[where]),
        where=where,
        first=_index(int(bad[0]), error.shape),
        wrong=int(wrong.sum()),
        total=int(error.size),
        entries=tuple(
            Entry(
                _index(int(i), error.shape),
                *apart(flat_want[i], flat_got[i]),
                number(flat_error[i]),
            )
            for i in _with(worst, int(np.ravel_multi_index(where, error.shape)) if where else 0)
        ),
        pattern=_pattern(expected, actual, errors),
        errors=error_map(error, limit, scale, where) if expected.type != "key" else None,
    )


def _distance(want: Array, got: Array) -> Array:
    """Return |got - want|: 0 where both are the same infinity or NaN, inf where only one is."""
    same = (want == got) | (np.isnan(want) & np.isnan(got))
    error = np.where(same, 0.0, np.abs(got - want))
    return np.where(np.isnan(error), np.inf, error)


def _with(worst: Array, index: int) -> list[int]:
    """Return the indices to show, in order, with `index` among them."""
    indices = [int(i) for i in worst]
    if index not in indices:
        indices[-1] = index
    return sorted(indices)


def _shown(leaf: Leaf, wide: Array) -> Array:
    """Return a leaf's elements to show: integers with all digits."""
    return (leaf.values if _integral(leaf.values) else wide).ravel()


def _pattern(expected: Leaf, actual: Leaf, errors: _Errors) -> str:
    """Return how the numbers are made from the right ones, if that can be said."""
    kinds = expected.values.dtype.kind, actual.values.dtype.kind
    integers = expected.type != "key" and all(kind in "iu" for kind in kinds)
    if not integers and not errors.want.dtype == errors.got.dtype == np.float64:
        return ""
    want, got = errors.want.astype(np.float64), errors.got.astype(np.float64)
    allowed = max(errors.tolerance, 1e-6) * float(np.abs(want).max())
    if integers:
        allowed = min(allowed, 0.5)
    return pattern(want, got, lambda a, b: bool(np.abs(a - b).max(initial=0.0) <= allowed))


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape))


def number(value: Any, digits: int = 6) -> str:
    """Format a number for messages."""
    if isinstance(value, complex | np.complexfloating):
        return f"{value:.{digits}g}"
    if isinstance(value, bool | np.bool_):
        return f"{bool(value)}"
    if isinstance(value, int | np.integer):
        return f"{int(value)}"
    if float(value).is_integer() and abs(value) < 1e16:
        return f"{int(value)}"
    return f"{float(value):.{digits}g}"


def apart(one: Any, other: Any, digits: int = 6) -> tuple[str, str]:
    """Format two numbers for messages, with the digits that tell them apart."""
    shown = number(one, digits), number(other, digits)
    if shown[0] != shown[1] or digits >= EXACT or one == other:
        return shown
    return apart(one, other, digits + 1)


def _mismatch(kind: MismatchKind, path: str, expected: Tree, actual: Tree) -> Mismatch:
    return Mismatch(kind=kind, path=path, expected=_side(expected), actual=_side(actual))


def _contents(tree: Tree) -> str:
    """Describe a tree, briefly if it is large."""
    text = brief(tree)
    if len(text) <= 80:
        return text
    if isinstance(tree, dict):
        return cut(f"a dict with the keys {', '.join(map(repr, sorted(tree, key=str)))}", 300)
    if isinstance(tree, list | tuple):
        return _values(tree)
    return cut(text, 300)


def _values(values: Sequence[Tree]) -> str:
    """Describe a list or tuple by the number of its entries."""
    kinds = [*map(_kind, values)]
    each = f"each {kinds[0]}" if len(kinds) > 1 and len({*kinds}) == 1 else ", ".join(kinds)
    return cut(f"{len(kinds)} value{'s' * (len(kinds) != 1)}" + (each and f" ({each})"), 300)


def _kind(tree: Tree) -> str:
    for kind in (dict, list, tuple):
        if isinstance(tree, kind):
            return f"a {kind.__name__}"
    return brief(tree)


def _side(tree: Tree) -> Side:
    if isinstance(tree, Leaf) and tree.array is not None:
        shape = tree.array.shape[:-1] if tree.type == "key" else tree.array.shape
        return Side(tree.type, tuple(shape), tree.array.dtype.name)
    return Side(_contents(tree))


# --- words ---------------------------------------------------------------------------------


def words(mismatch: Mismatch) -> str:
    """Describe a mismatch to the learner in one sentence."""
    where = f"{mismatch.path}: " if mismatch.path else ""
    expected, actual = mismatch.expected, mismatch.actual
    match mismatch.kind:
        case "shape":
            return where + shape_words(actual.shape or (), expected.shape or ())
        case "dtype":
            return f"{where}dtype {actual.dtype}, expected {expected.dtype}"
        case "structure" | "type":
            return f"{where}found {_described(actual)}, expected {_described(expected)}"
        case "nan":
            return f"{where}NaN at {_at(mismatch.where)}: expected {_worst(mismatch).expected}"
    worst = _worst(mismatch)
    if mismatch.total == 1:
        return f"{where}expected {worst.expected}, got {worst.actual}"
    largest = "infinite" if mismatch.max_error is None else number(mismatch.max_error)
    return (
        f"{where}largest difference {largest} at {_at(mismatch.where)}: "
        f"expected {worst.expected}, got {worst.actual} "
        f"({mismatch.wrong} of {mismatch.total} elements differ)"
    )


def _worst(mismatch: Mismatch) -> Entry:
    return next(e for e in mismatch.entries if e.index == mismatch.where)


def _at(index: tuple[int, ...] | None) -> str:
    return str(list(index or ()))


def _described(side: Side) -> str:
    if side.shape is None:
        return side.type
    if side.type in PYTHON_NUMBERS:
        return f"a Python {side.type}"
    name = {"torch.Tensor": "an array", "jax.Array": "an array", "key": "a PRNG key"}
    return f"{name.get(side.type, side.type)} of shape {_shape(side.shape)}"


def _shape(shape: tuple[int, ...]) -> str:
    return str(tuple(shape))


def shape_words(actual: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """Describe how shapes differ: `shape (3, 7), expected (7, 3): the axes are swapped`."""
    text = f"shape {_shape(actual)}, expected {_shape(expected)}"
    reason = _shape_hint(tuple(actual), tuple(expected))
    return f"{text}: {reason}" if reason else text


def _shape_hint(actual: tuple[int, ...], expected: tuple[int, ...]) -> str:
    if len(actual) == len(expected):
        if sorted(actual) == sorted(expected):
            return "the axes are swapped" if len(actual) == 2 else "the axes are in another order"
        differing = [i for i, (a, e) in enumerate(zip(actual, expected, strict=True)) if a != e]
        if len(differing) == 1 and actual[differing[0]] == 1:
            return f"axis {differing[0]} was reduced to 1"
        return ""
    for axis in range(len(actual)):
        if actual[:axis] + actual[axis + 1 :] == expected:
            return f"there is an extra axis of size {actual[axis]} (axis {axis})"
    for axis in range(len(expected)):
        if expected[:axis] + expected[axis + 1 :] == actual:
            return f"axis {axis} of size {expected[axis]} is missing"
    if int(np.prod(actual, dtype=object)) == int(np.prod(expected, dtype=object)):
        return "the same number of elements in another layout"
    return ""
