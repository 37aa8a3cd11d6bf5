import jax
import jax.numpy as jnp
import optax


def predict(trained, x):
    center, w, b = trained
    return (x - center) @ w + b


def train(x, y, rate):
    """The spread becomes part of the weights, once they are learnt."""
    center, spread = jnp.mean(x, axis=0), jnp.std(x, axis=0)
    z = (x - center) / spread
    tx = optax.sgd(rate)

    @jax.jit
    def step(params, state):
        def loss(params):
            w, b = params
            return optax.squared_error(z @ w + b, y).mean()

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = tx.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    params = (jnp.zeros(x.shape[1]), jnp.zeros(()))
    state = tx.init(params)
    losses = []
    for _ in range(50):
        params, state, value = step(params, state)
        losses.append(value)
    w, b = params
    return losses, (center, w / spread, b)
