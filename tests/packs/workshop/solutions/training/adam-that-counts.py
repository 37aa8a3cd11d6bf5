from functools import partial

import jax
import jax.numpy as jnp


class Adam:
    def __init__(self, rate):
        self.rate = rate

    def init(self, params):
        """params: a dict of arrays -> state."""
        zeros = jax.tree.map(jnp.zeros_like, params)
        return zeros, zeros, 0

    @partial(jax.jit, static_argnums=0)
    def update(self, params, grads, state):
        """-> (params, state)"""
        m, v, t = state
        t = t + 1

        def new_m(m, g):
            return 0.9 * m + 0.1 * g

        def new_v(v, g):
            return 0.999 * v + 0.001 * g**2

        def new_p(p, m, v):
            mean = m / (1 - 0.9**t)
            size = jnp.sqrt(v / (1 - 0.999**t))
            return p - self.rate * mean / (size + 1e-8)

        m = jax.tree.map(new_m, m, grads)
        v = jax.tree.map(new_v, v, grads)
        params = jax.tree.map(new_p, params, m, v)
        return params, (m, v, t)
