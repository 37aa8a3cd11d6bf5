"""Causes: the answer lacks part of the expected result, has more, or is divided differently."""

from collections.abc import Iterator, Sequence
from typing import Any

from tutor.explain.causes.comparison import Comparison, Fields
from tutor.tree import Leaf, Tree, leaves


def part_of_the_result(comparison: Comparison) -> Fields | None:
    """Recognise one of several expected results."""
    from tutor.checks.compare import compare

    expected = comparison.expected
    if comparison.mismatch.kind != "structure" or not isinstance(expected, list | tuple):
        return None
    for number, one in enumerate(expected):
        if compare(one, comparison.actual) is None:
            return {"number": str(number), "count": str(len(expected))}
    return None


def indices_missing(comparison: Comparison) -> Fields | None:
    """Recognise the first of two expected results, of which the second is integers."""
    found = part_of_the_result(comparison)
    if found is None or found["number"] != "0" or found["count"] != "2":
        return None
    assert isinstance(comparison.expected, list | tuple)
    second = comparison.expected[1]
    whole = isinstance(second, Leaf) and second.array is not None and second.array.dtype.kind == "i"
    return {} if whole else None


def more_than_the_result(comparison: Comparison) -> Fields | None:
    """Recognise the expected result among others."""
    from tutor.checks.compare import compare

    actual = comparison.actual
    if comparison.mismatch.kind != "structure" or not isinstance(actual, list | tuple):
        return None
    for number, one in enumerate(actual):
        if compare(comparison.expected, one) is None:
            return {"number": str(number), "count": str(len(actual))}
    return None


def a_result_missing(comparison: Comparison) -> Fields | None:
    """Recognise a sequence of results from which one is missing."""
    from tutor.checks.compare import compare

    expected, actual = comparison.expected, comparison.actual
    if not isinstance(expected, list | tuple) or not isinstance(actual, list | tuple):
        return None
    if len(actual) != len(expected) - 1 or len(actual) < 2:
        return None
    for number in range(len(expected)):
        if compare([*expected[:number], *expected[number + 1 :]], list(actual)) is None:
            return {"number": str(number), "count": str(len(expected))}
    return None


def entry_of_the_result(comparison: Comparison) -> Fields | None:
    """Recognise a dict with the expected result as one of its entries."""
    from tutor.checks.compare import compare

    actual = comparison.actual
    if comparison.mismatch.kind != "structure" or not isinstance(actual, dict):
        return None
    for key, one in actual.items():
        if compare(comparison.expected, one) is None:
            return {"entry": repr(key)}
    return None


def entries_missing(comparison: Comparison) -> Fields | None:
    """Recognise a dict from which some entries are missing."""
    expected, actual = _at(comparison, comparison.expected), _at(comparison, comparison.actual)
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        return None
    missing = expected.keys() - actual.keys()
    if not missing or actual.keys() - expected.keys() or not actual:
        return None
    return {"entry": ", ".join(sorted(map(repr, missing)))}


def _at(comparison: Comparison, tree: Tree) -> Tree:
    """Return the part of `tree` at the path of the mismatch."""
    path = comparison.mismatch.path
    return next((child for at, child in _nodes(tree) if at == path), None)


def _nodes(tree: Tree, path: str = "") -> Iterator[tuple[str, Tree]]:
    yield path, tree
    if isinstance(tree, dict):
        for key, child in tree.items():
            yield from _nodes(child, f"{path}[{key!r}]")
    elif isinstance(tree, list | tuple):
        for index, child in enumerate(tree):
            yield from _nodes(child, f"{path}[{index}]")


def names_for_numbers(comparison: Comparison) -> Fields | None:
    """Recognise a dict input's key in place of its value."""
    actual = _at(comparison, comparison.actual)
    names = {
        key: name
        for name, tree in comparison.inputs.items()
        if isinstance(tree, dict)
        for key in tree
    }
    if not isinstance(actual, str) or actual not in names:
        return None
    return {"name": actual, "input": names[actual]}


def tuples_for_arrays(comparison: Comparison) -> Fields | None:
    """Recognise a list or tuple nested in the result in place of an array."""
    actual = _at(comparison, comparison.actual)
    expected = _at(comparison, comparison.expected)
    if not isinstance(expected, Leaf) or not isinstance(actual, list | tuple):
        return None
    return {"count": str(len(actual))} if comparison.mismatch.path else None


def cut_otherwise(comparison: Comparison) -> Fields | None:
    """Recognise the right numbers split into the wrong number of arrays."""
    import numpy as np

    expected, actual = comparison.expected, comparison.actual
    if not isinstance(expected, list | tuple) or not isinstance(actual, list | tuple):
        return None
    whole, found = _arrays(expected), _arrays(actual)
    if (
        whole is None
        or found is None
        or len(whole) == len(found)
        or min(map(len, (whole, found))) < 2
    ):
        return None
    for axis in range(whole[0].ndim):
        try:
            one, two = np.concatenate(whole, axis), np.concatenate(found, axis)
        except ValueError:
            continue
        if one.shape == two.shape and np.allclose(one, two):
            return {"count": str(len(found)), "expected_count": str(len(whole))}
    return None


def columns(comparison: Comparison) -> Fields | None:
    """Recognise a list of columns in place of the array that stacks them."""
    import numpy as np

    expected, actual = comparison.expected, comparison.actual
    if not isinstance(expected, Leaf) or not isinstance(actual, list | tuple):
        return None
    found, table = _arrays(actual), expected.array
    if not found or table is None or any(one.shape != table.shape[:-1] for one in found):
        return None
    return {} if np.array_equal(np.stack(found, axis=-1), table) else None


def parts_add_up(comparison: Comparison) -> Fields | None:
    """Recognise several arrays whose sum was expected."""
    import numpy as np

    wanted = [leaf.array for _, leaf in leaves(comparison.expected)]
    found = [leaf.array for _, leaf in leaves(comparison.actual)]
    if len(wanted) != 1 or (whole := wanted[0]) is None or len(found) < 2:
        return None
    if any(one is None or one.shape != whole.shape for one in found):
        return None
    total = sum(one.astype(np.float64) for one in found if one is not None)
    return {"count": str(len(found))} if np.allclose(total, whole, 1e-4, 1e-5) else None


def _arrays(trees: Sequence[Tree]) -> list[Any] | None:
    arrays = [tree.array for tree in trees if isinstance(tree, Leaf)]
    known = [array for array in arrays if array is not None]
    return known if known and len(known) == len(trees) else None
