"""Functions that the expressions of checks may use, beside `jax`, `jnp` and `np`."""

import gc
from collections.abc import Callable
from typing import Any

import jax


def refill(tree: Any, values: Any) -> Any:
    """`tree` with every leaf replaced by the leaf of `values` that has its shape.

    Puts known numbers into parameters whatever a learner has called their layers. Leaves of `tree`
    that have the same shape get the same numbers, for nothing tells them apart.

    **Arguments:** `tree`: any pytree of arrays; `values`: any pytree of arrays, no two of which
    have the same shape.

    **Returns:** a pytree with the structure of `tree` and the numbers of `values`.

    Raises:
        ValueError: the two do not have the same shapes, or two of `values` do.
    """
    given = jax.tree.leaves(values)
    by_shape = {leaf.shape: leaf for leaf in given}
    if len(by_shape) < len(given):
        raise ValueError("refill: two of the lesson's arrays have the same shape")
    found = {leaf.shape for leaf in jax.tree.leaves(tree)}
    if found != set(by_shape):
        raise ValueError(
            f"the parameters have the shapes {sorted(found)}; "
            f"the lesson asks for {sorted(by_shape)}"
        )
    return jax.tree.map(lambda leaf: by_shape[leaf.shape], tree)


def instances(kind: type, function: Callable[[], Any]) -> list[Any]:
    """The instances of a class that there are, and those that are made while `function` runs.

    What a learner's functions make for themselves is gone when they return. It tells how they do
    their work, and is evidence.
    """
    made = [one for one in gc.get_objects() if issubclass(type(one), kind)]
    begin = kind.__init__  # type: ignore[misc]

    def watched(self: Any, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        made.append(self)

    kind.__init__ = watched  # type: ignore[misc]
    try:
        function()
    finally:
        kind.__init__ = begin  # type: ignore[misc]
    return made
