"""Trees of arrays: the only kind of value that crosses between processes.

JAX would say pytree. Here there are no node types to register and no code to run: a tree is
built from dicts, lists, tuples, text, None and `Leaf`. Inputs are drawn as trees, answers come
back as trees, and judges compare trees.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[np.generic]


class TreeError(ValueError):
    """An answer is not of the form that was asked for."""


class Leaf(Struct, frozen=True, eq=False):
    """An array, and what it was before it was an array.

    `type` is what the value was where it came from: `"jax.Array"`, `"numpy.ndarray"`,
    `"float"`, `"key"` (a typed PRNG key; the array is its raw uint32 data), `"torch.Tensor"` …
    or the name of something that is no array at all, and then `array` is None.
    """

    array: "Array | None"
    type: str

    @property
    def values(self) -> "Array":
        if self.array is None:
            raise TreeError(f"expected an array, found {self.type}")
        return self.array


Tree: TypeAlias = Union[
    # Not one string with `|`: an alias in quotes could not be combined with `| None`.
    Leaf, str, "list[Tree]", "tuple[Tree, ...]", "dict[Any, Tree]", None
]  # fmt: skip


def entry(tree: Tree, name: str | int) -> Tree:
    """`tree[name]` of a dict, or the item of a list or tuple.

    Raises:
        TreeError: there is no such entry.
    """
    if isinstance(tree, dict) and name in tree:
        return tree[name]
    if isinstance(tree, list | tuple) and isinstance(name, int) and 0 <= name < len(tree):
        return tree[name]
    raise TreeError(f"expected an entry {name!r}")


def items(tree: Tree) -> list[Tree]:
    """The items of a list or tuple.

    Raises:
        TreeError: it is neither.
    """
    if not isinstance(tree, list | tuple):
        raise TreeError("expected a list")
    return list(tree)


def text(tree: Tree) -> str:
    """Raises: TreeError: it is not text."""
    if not isinstance(tree, str):
        raise TreeError("expected text")
    return tree


def real(tree: Tree) -> float:
    """The number that an array of one element holds.

    Raises:
        TreeError: it is no such array, or the number is complex.
    """
    if not isinstance(tree, Leaf) or tree.values.size != 1 or tree.values.dtype.kind == "c":
        raise TreeError("expected a number")
    return float(tree.values.reshape(()))


def leaves(tree: Tree, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every array in a tree with its path, in order; text and None are no leaves."""
    if isinstance(tree, Leaf):
        yield path, tree
    elif isinstance(tree, dict):
        for key, child in tree.items():
            yield from leaves(child, f"{path}[{key!r}]")
    elif isinstance(tree, list | tuple):
        for index, child in enumerate(tree):
            yield from leaves(child, f"{path}[{index}]")


def map_leaves(function: Callable[[Leaf], Tree], tree: Tree) -> Tree:
    """Return a tree of the same structure with `function` of each leaf."""
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
    """What a tree is, in the field's shorthand: `float32[7, 5]`, `{'w': float32[5, 3]}`."""
    if isinstance(tree, Leaf):
        if tree.array is None:
            return tree.type
        if tree.type == "key" and tree.array.ndim:
            return "key" if tree.array.ndim == 1 else f"key{list(tree.array.shape[:-1])}"
        if tree.type in ("int", "float", "bool", "complex") and not tree.array.ndim:
            return f"{tree.array.item()!r}"
        return f"{tree.array.dtype}{list(tree.array.shape)}"
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key!r}: {brief(child)}" for key, child in tree.items()) + "}"
    if isinstance(tree, list | tuple):
        inner = ", ".join(brief(child) for child in tree)
        return f"[{inner}]" if isinstance(tree, list) else f"({inner})"
    return repr(tree)
