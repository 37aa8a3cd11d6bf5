# L4: exits when the array is converted
# says: your code ended the process
import sys

import jax


@jax.tree_util.register_pytree_node_class
class Answer:
    def tree_flatten(self):
        sys.exit(0)

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls()


def double(x):
    return Answer()
