"""A NamedTuple, which is a tree already, and `_replace`."""

import typing

import jax
import jax.numpy as jnp

leaves_of_the_tree = 6


def ensemble(f, models, x):
    structure = jax.tree.structure(models[0])
    columns = zip(*(jax.tree.leaves(model) for model in models))
    stacked = structure.unflatten(map(jnp.stack, map(list, columns)))
    return jax.vmap(lambda params: f(params, x))(stacked)


class Running(typing.NamedTuple):
    count: jax.Array
    mean: jax.Array
    squares: jax.Array

    def add(self, x):
        n = self.count + 1
        mean = (self.mean * self.count + x) / n
        squares = self.squares + (x - self.mean) ** 2 * self.count / n
        return self._replace(count=n, mean=mean, squares=squares)

    def variance(self):
        return self.squares / self.count
