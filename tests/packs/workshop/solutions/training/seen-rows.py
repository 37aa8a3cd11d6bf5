import jax
import jax.numpy as jnp


def train(x, y, rate):
    """x (n, d), y (n,) -> the losses (50,), and trained."""
    seen = {"mean": x.mean(axis=0), "spread": x.std(axis=0)}

    def loss(learnt):
        return jnp.mean((predict(seen | learnt, x) - y) ** 2)

    def step(learnt, _):
        value, grads = jax.value_and_grad(loss)(learnt)
        return jax.tree.map(lambda p, g: p - rate * g, learnt, grads), value

    learnt = {"w": jnp.zeros(x.shape[1]), "b": jnp.zeros(())}
    learnt, losses = jax.lax.scan(step, learnt, length=50)
    return losses, seen | learnt


def predict(trained, x):
    """trained, x (m, d) -> (m,)."""
    z = (x - trained["mean"]) / trained["spread"]
    return z @ trained["w"] + trained["b"]
