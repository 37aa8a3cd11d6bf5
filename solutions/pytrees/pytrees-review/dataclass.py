"""A registered dataclass, and `lax.map` over the stacked models."""

import dataclasses

import jax
import jax.numpy as jnp

leaves_of_the_tree = 6


def ensemble(f, models, x):
    stacked = jax.tree.map(lambda *leaves: jnp.array(leaves), *models)
    return jax.lax.map(lambda params: f(params, x), stacked)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Running:
    count: jax.Array
    mean: jax.Array
    squares: jax.Array

    def add(self, x):
        count = self.count + 1
        delta = x - self.mean
        mean = self.mean + delta / count
        return Running(count, mean, self.squares + delta * (x - mean))

    def variance(self):
        return self.squares / self.count
