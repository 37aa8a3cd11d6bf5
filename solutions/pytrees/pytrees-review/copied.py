"""A copy that is written into, with `copy.copy`; models stacked by concatenation."""

import copy

import jax
import jax.numpy as jnp

leaves_of_the_tree = 6


def ensemble(f, models, x):
    rows = jax.tree.map(lambda *leaves: jnp.concatenate([a[None] for a in leaves]), *models)
    return jax.vmap(f, (0, None))(rows, x)


@jax.tree_util.register_pytree_node_class
class Running:
    def __init__(self, count, mean, squares):
        self.count, self.mean, self.squares = count, mean, squares

    def tree_flatten(self):
        return list(vars(self).values()), tuple(vars(self))

    @classmethod
    def tree_unflatten(cls, names, leaves):
        return cls(**dict(zip(names, leaves)))

    def add(self, x):
        new = copy.copy(self)
        new.count = self.count + 1
        new.mean = self.mean + (x - self.mean) / new.count
        new.squares = self.squares + (x - self.mean) * (x - new.mean)
        return new

    def variance(self):
        return self.squares / self.count
