"""Trees of arrays: the only values that processes exchange.

Like JAX's pytrees, but without node types to register or code to run: a tree consists of dicts,
lists, tuples, strings, None and `Leaf`. Inputs, answers and references are trees.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, Union

from msgspec import Struct

from tutor.arrays import Array

PYTHON_NUMBERS = ("bool", "int", "float", "complex")
"""Types of leaves that hold a number of Python."""


class TreeError(ValueError):
    """An answer does not have the requested form."""


class Leaf(Struct, frozen=True, eq=False):
    """An array and its original type.

    `type` is the type of the original value: `"jax.Array"`, `"numpy.ndarray"`, `"float"`, `"key"`
    (a typed PRNG key; the array is its raw uint32 data), `"torch.Tensor"` … For a value that is not
    an array, `array` is None.
    """

    array: "Array | None"
    type: str

    @property
    def values(self) -> Array:
        if self.array is None:
            raise TreeError(f"expected an array, got {self.type}")
        return self.array


Tree: TypeAlias = Union[
    # Not one string with `|`: an alias in quotes could not be combined with `| None`.
    Leaf, str, "list[Tree]", "tuple[Tree, ...]", "dict[Any, Tree]", None
]  # fmt: skip


def entry(tree: Tree, name: str | int) -> Tree:
    """Return an entry of a dict, or an item of a list or tuple. Raises: TreeError: no such
    entry."""
    if isinstance(tree, dict) and name in tree:
        return tree[name]
    if isinstance(tree, list | tuple) and isinstance(name, int) and 0 <= name < len(tree):
        return tree[name]
    raise TreeError(f"expected an entry {name!r}")


def items(tree: Tree) -> list[Tree]:
    """Return the items of a list or tuple. Raises: TreeError: it is neither."""
    if not isinstance(tree, list | tuple):
        raise TreeError("expected a list")
    return list(tree)


def text(tree: Tree) -> str:
    """Return a string. Raises: TreeError: it is not a string."""
    if not isinstance(tree, str):
        raise TreeError("expected text")
    return tree


def real(tree: Tree) -> float:
    """Return the element of an array of one element. Raises: TreeError: it is not such an array, or
    complex."""
    if not isinstance(tree, Leaf) or tree.values.size != 1 or tree.values.dtype.kind == "c":
        raise TreeError("expected a number")
    return float(tree.values.reshape(()))


def children(tree: Tree) -> dict[Any, Tree] | None:
    """Return what is in a dict, by key, or in a list or tuple, by index; None for other trees."""
    if isinstance(tree, dict):
        return tree
    return dict(enumerate(tree)) if isinstance(tree, list | tuple) else None


ABSENT: Any = object()


def paired(one: Tree, other: Tree) -> dict[Any, tuple[Tree, Tree]] | None:
    """Return the entries of two dicts, or of two lists or tuples, by key or index, with `ABSENT`
    for those that only one of them has; None for other trees."""
    first, second = children(one), children(other)
    if first is None or second is None or isinstance(one, dict) != isinstance(other, dict):
        return None
    return {key: (first.get(key, ABSENT), second.get(key, ABSENT)) for key in {**first, **second}}


def equal(one: Tree, other: Tree) -> bool:
    """Return whether two trees hold the same numbers, to the bit."""
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        a, b = one.array, other.array
        if a is None or b is None:
            return a is b
        return (one.type, a.dtype, a.shape) == (other.type, b.dtype, b.shape) and (
            a.tobytes() == b.tobytes()
        )
    entries = paired(one, other)
    if entries is None:
        return type(one) is type(other) and one == other
    return all(a is not ABSENT and b is not ABSENT and equal(a, b) for a, b in entries.values())


def leaves(tree: Tree, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield each array of a tree with its path, in order; strings and None are not leaves."""
    if isinstance(tree, Leaf):
        yield path, tree
    for key, child in (children(tree) or {}).items():
        yield from leaves(child, f"{path}[{key!r}]")


def map_leaves(function: Callable[[Leaf], Tree], tree: Tree) -> Tree:
    """Apply `function` to each leaf."""
    if isinstance(tree, Leaf):
        return function(tree)
    if isinstance(tree, dict):
        return {key: map_leaves(function, child) for key, child in tree.items()}
    if isinstance(tree, list):
        return [map_leaves(function, child) for child in tree]
    if isinstance(tree, tuple):
        return tuple(map_leaves(function, child) for child in tree)
    return tree


def brief(tree: Tree) -> str:
    """Return a short description of a tree: `float32[7, 5]`, `{'w': float32[5, 3]}`."""
    if isinstance(tree, Leaf):
        if tree.array is None:
            return tree.type
        if tree.type == "key" and tree.array.ndim:
            return "key" if tree.array.ndim == 1 else f"key{list(tree.array.shape[:-1])}"
        if tree.type in PYTHON_NUMBERS and not tree.array.ndim:
            return f"{tree.array.item()!r}"
        return f"{tree.array.dtype}{list(tree.array.shape)}"
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key!r}: {brief(child)}" for key, child in tree.items()) + "}"
    if isinstance(tree, list | tuple):
        inner = ", ".join(brief(child) for child in tree)
        return f"[{inner}]" if isinstance(tree, list) else f"({inner})"
    return repr(tree)
