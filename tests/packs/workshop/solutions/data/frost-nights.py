import jax
import jax.numpy as jnp
import optax


def normalise(x, mean, var):
    return (x - mean) / jnp.sqrt(var + 1e-5)


def cross_entropy(logits, y):
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def remember(old, new):
    return old + 0.1 * (new - old)


def loss_fn(params, stats, x, y):
    z = normalise(x, x.mean(0), x.var(0))
    new = {
        "mean": remember(stats["mean"], x.mean(0)),
        "var": remember(stats["var"], x.var(0, ddof=1)),
    }
    return cross_entropy(z @ params["w"] + params["b"], y), new


def scores(params, stats, x):
    return normalise(x, stats["mean"], stats["var"]) @ params["w"] + params["b"]


def train(params, stats, x, y, lr):
    def step(carry, batch):
        params, stats = carry
        (loss, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, stats, *batch)
        params = jax.tree.map(lambda p, g: p - lr * g, params, grads)
        return (params, stats), loss

    def epoch(carry, _):
        return jax.lax.scan(step, carry, batches)

    batches = x.reshape(-1, 40, x.shape[1]), y.reshape(-1, 40)
    carry, losses = jax.lax.scan(epoch, (params, stats), length=6)
    return losses.reshape(-1), carry
