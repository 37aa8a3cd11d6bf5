import jax
import jax.numpy as jnp

leaves_of_the_tree = 6


# Many models become one, whose leaves have an axis for the models: what vmap, scan and a checkpoint
# take. Then f is traced once.
def ensemble(f, models, x):
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
    return jax.vmap(f, in_axes=(0, None))(stacked, x)


# All that changes is a leaf, so the structure is the same before and after `add`.
@jax.tree_util.register_pytree_node_class
class Running:
    def __init__(self, count, mean, squares):
        self.count, self.mean, self.squares = count, mean, squares

    def tree_flatten(self):
        return (self.count, self.mean, self.squares), None

    @classmethod
    def tree_unflatten(cls, _, leaves):
        return cls(*leaves)

    def add(self, x):
        count = self.count + 1
        mean = self.mean + (x - self.mean) / count
        squares = self.squares + (x - self.mean) * (x - mean)
        return Running(count, mean, squares)

    def variance(self):
        return self.squares / self.count
