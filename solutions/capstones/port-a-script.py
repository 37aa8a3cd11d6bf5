"""One dict is the state, and PyTorch's flat dict of weights is the tree of parameters: masks,
norms and averages are then one `jax.tree.map` each. The chain of Optax keeps count and moments."""

import functools

import jax
import jax.numpy as jnp
import optax


def network(p, x):
    h = x @ p["embed.weight"].T + p["embed.bias"]
    mean, variance = h.mean(-1, keepdims=True), h.var(-1, keepdims=True)
    normed = (h - mean) * jax.lax.rsqrt(variance + 1e-5)
    normed = normed * p["block.norm.weight"] + p["block.norm.bias"]
    inner = jax.nn.gelu(normed @ p["block.up.weight"].T + p["block.up.bias"], approximate=False)
    h = h + inner @ p["block.down.weight"].T + p["block.down.bias"]
    return h @ p["head.weight"].T + p["head.bias"]


def rate_at(count, config):
    warmup = config["rate"] * (count + 1) / config["warmup"]
    done = (count - config["warmup"]) / (config["steps"] - config["warmup"])
    cosine = config["rate"] * 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(1.0, done)))
    return jnp.where(count < config["warmup"], warmup, cosine)


def optimizer(config):
    return optax.chain(
        optax.clip_by_global_norm(config["clip"]),
        optax.scale_by_adam(b1=0.9, b2=0.99, eps=1e-6),
        optax.add_decayed_weights(
            config["decay"], mask=lambda params: jax.tree.map(lambda p: p.ndim > 1, params)
        ),
        optax.scale_by_learning_rate(functools.partial(rate_at, config=config)),
    )


def start(weights, config):
    params = dict(weights)
    moments = optimizer(config).init(params)
    return {"params": params, "average": params, "moments": moments, "config": config}


def scores(state, x):
    return network(state["params"], x)


def averaged(state, x):
    return network(state["average"], x)


@jax.jit
def step(state, x, y):
    config, params = state["config"], state["params"]

    def loss(params):
        labels = optax.smooth_labels(jax.nn.one_hot(y, 10), config["smoothing"])
        return optax.softmax_cross_entropy(network(params, x), labels).mean()

    value, grads = jax.value_and_grad(loss)(params)
    updates, moments = optimizer(config).update(grads, state["moments"], params)
    params = optax.apply_updates(params, updates)
    share = config["average"]
    average = jax.tree.map(lambda a, p: share * a + (1 - share) * p, state["average"], params)
    new = {"params": params, "average": average, "moments": moments, "config": config}
    return new, value, optax.global_norm(grads)


@jax.jit
def fit(state, xs, ys):
    def body(state, batch):
        state, value, _ = step(state, *batch)
        return state, value

    state, losses = jax.lax.scan(body, state, (xs, ys))
    return losses, state


def evaluate(state, x, y):
    found = averaged(state, x)
    loss = optax.softmax_cross_entropy_with_integer_labels(found, y).mean()
    return loss, (found.argmax(1) == y).mean()
