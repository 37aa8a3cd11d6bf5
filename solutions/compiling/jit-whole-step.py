import jax
import jax.numpy as jnp


def predict(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


@jax.jit
def train_step(params, velocity, x, y):
    def loss_fn(params):
        return jnp.mean((predict(params, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
    params = jax.tree.map(lambda p, v: p - 0.05 * v, params, velocity)
    return params, velocity, loss
