"""Functions that the expressions of checks may use, beside `jax`, `jnp` and `np`."""

from typing import Any

import jax


def refill(tree: Any, values: Any) -> Any:
    """`tree` with every leaf replaced by the leaf of `values` that has its shape.

    Puts known numbers into parameters whatever a learner has called their layers. The shapes
    must be distinct.

    **Arguments:** `tree`: any pytree of arrays; `values`: any pytree of arrays.

    **Returns:** a pytree with the structure of `tree` and the numbers of `values`.

    Raises:
        ValueError: the two do not have the same shapes.
    """
    by_shape = {leaf.shape: leaf for leaf in jax.tree.leaves(values)}
    found = sorted(leaf.shape for leaf in jax.tree.leaves(tree))
    if found != sorted(by_shape):
        raise ValueError(
            f"the parameters have the shapes {found}; the lesson asks for {sorted(by_shape)}"
        )
    return jax.tree.map(lambda leaf: by_shape[leaf.shape], tree)
