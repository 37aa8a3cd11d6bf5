"""`scan` over the stacked models; flatten and unflatten without the constructor."""

import jax
import jax.numpy as jnp

leaves_of_the_tree = 3 + 2 + 1


def ensemble(f, models, x):
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves, axis=0), *models)
    _, rows = jax.lax.scan(lambda _, params: (None, f(params, x)), None, stacked)
    return rows


class Running:
    def __init__(self, count, mean, squares):
        self.count = count
        self.mean = mean
        self.squares = squares

    def add(self, x):
        new = Running(self.count + 1, self.mean, self.squares)
        new.mean = self.mean + (x - self.mean) / new.count
        new.squares = self.squares + (x - self.mean) * (x - new.mean)
        return new

    def variance(self):
        return self.squares / self.count


def rebuild(_, leaves):
    new = object.__new__(Running)
    new.count, new.mean, new.squares = leaves
    return new


jax.tree_util.register_pytree_node(
    Running, lambda self: ((self.count, self.mean, self.squares), None), rebuild
)
