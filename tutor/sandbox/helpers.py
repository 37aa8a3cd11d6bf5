"""Functions for the expressions of checks, in addition to `jax`, `jnp` and `np`."""

import gc
from collections.abc import Callable
from typing import Any

import jax


def refill(tree: Any, values: Any) -> Any:
    """Return `tree` with every leaf replaced by the leaf of `values` with its shape.

    This sets parameters to known numbers, whatever names a learner gave to layers. Leaves of `tree`
    with the same shape get the same numbers.

    **Arguments:** `tree`: any pytree of arrays; `values`: any pytree of arrays, no two of which
    have the same shape.

    **Returns:** a pytree with the structure of `tree` and the numbers of `values`.

    Raises:
        ValueError: the shapes of the two differ, or two of `values` share a shape.
    """
    given = jax.tree.leaves(values)
    by_shape = {leaf.shape: leaf for leaf in given}
    if len(by_shape) < len(given):
        raise ValueError("refill: two of the lesson's arrays have the same shape")
    shapes = {leaf.shape for leaf in jax.tree.leaves(tree)}
    if shapes != set(by_shape):
        raise ValueError(
            f"the parameters have the shapes {sorted(shapes)}; "
            f"the lesson asks for {sorted(by_shape)}"
        )
    return jax.tree.map(lambda leaf: by_shape[leaf.shape], tree)


def instances(kind: type, function: Callable[[], Any]) -> list[Any]:
    """Return the instances of a class that exist now or are made while `function` runs.

    They show how a learner's functions work, as evidence, even if they are gone on return.
    """
    made = [value for value in gc.get_objects() if issubclass(type(value), kind)]
    original = kind.__init__  # type: ignore[misc]

    def recording(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        made.append(self)

    kind.__init__ = recording  # type: ignore[misc]
    try:
        function()
    finally:
        kind.__init__ = original  # type: ignore[misc]
    return made
