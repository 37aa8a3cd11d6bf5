"""A model of NNX, split into its structure and its values, which are the state."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, width, inner, rngs):
        self.embed = nnx.Linear(64, width, rngs=rngs)
        self.norm = nnx.LayerNorm(width, epsilon=1e-5, use_fast_variance=False, rngs=rngs)
        self.up = nnx.Linear(width, inner, rngs=rngs)
        self.down = nnx.Linear(inner, width, rngs=rngs)
        self.head = nnx.Linear(width, 10, rngs=rngs)

    def __call__(self, x):
        h = self.embed(x)
        z = nnx.gelu(self.up(self.norm(h)), approximate=False)
        return self.head(h + self.down(z))


def start(weights, config):
    inner, width = weights["block.up.weight"].shape
    model = Net(width, inner, nnx.Rngs(0))
    for name in ("embed", "up", "down", "head"):
        there = name if name in ("embed", "head") else f"block.{name}"
        layer = getattr(model, name)
        layer.kernel[...] = weights[f"{there}.weight"].T
        layer.bias[...] = weights[f"{there}.bias"]
    model.norm.scale[...] = weights["block.norm.weight"]
    model.norm.bias[...] = weights["block.norm.bias"]
    graph, params = nnx.split(model)
    optimizer = make(config)
    return compiled(graph, optimizer, config), graph, params, params, optimizer.init(params)


def make(config):
    def rate(count):
        rising = (count + 1) / config["warmup"]
        done = (count - config["warmup"]) / (config["steps"] - config["warmup"])
        falling = 0.5 * (1 + jnp.cos(jnp.pi * jnp.clip(done, 0, 1)))
        return config["rate"] * jnp.where(count < config["warmup"], rising, falling)

    def matrices(params):
        return jax.tree.map(lambda leaf: jnp.ndim(leaf) > 1, params)

    return optax.chain(
        optax.clip_by_global_norm(config["clip"]),
        optax.adamw(rate, b2=0.99, eps=1e-6, weight_decay=config["decay"], mask=matrices),
    )


def compiled(graph, optimizer, config):
    @jax.jit
    def run(params, average, moments, x, y):
        def loss(params):
            logits = nnx.merge(graph, params)(x)
            labels = optax.smooth_labels(jax.nn.one_hot(y, 10), config["smoothing"])
            return jnp.mean(optax.safe_softmax_cross_entropy(logits, labels))

        value, grads = jax.value_and_grad(loss)(params)
        updates, new = optimizer.update(grads, moments, params)
        params = optax.apply_updates(params, updates)
        mixed = optax.tree.update_moment(params, average, config["average"], 1)
        return (params, mixed, new), value, optax.global_norm(grads)

    return run


def scores(state, x):
    _, graph, params, _, _ = state
    return nnx.merge(graph, params)(x)


def averaged(state, x):
    _, graph, _, average, _ = state
    return nnx.merge(graph, average)(x)


def step(state, x, y):
    run, graph, *arrays = state
    arrays, value, norm = run(*arrays, x, y)
    return (run, graph, *arrays), value, norm


def fit(state, xs, ys):
    run, graph, *arrays = state

    def body(arrays, batch):
        arrays, value, _ = run(*arrays, *batch)
        return arrays, value

    arrays, losses = jax.lax.scan(body, tuple(arrays), (xs, ys))
    return losses, (run, graph, *arrays)


def evaluate(state, x, y):
    logits = averaged(state, x)
    losses = optax.losses.softmax_cross_entropy_with_integer_labels(logits, y)
    return jnp.mean(losses), jnp.mean(jnp.argmax(logits, -1) == y)
