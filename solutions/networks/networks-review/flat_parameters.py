import jax
import jax.numpy as jnp
from jax import lax

kernel = (5, 4, 3, 8)
running = 0.2
kept = 0.25


def from_torch(state):
    return {k: jnp.asarray(v) for k, v in state.items() if k != "out.weight"}


def to_torch(params):
    return params | {"out.weight": params["embed.weight"]}


def layer_norm(x, weight, bias):
    centred = x - jnp.mean(x, -1, keepdims=True)
    return weight * centred * lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-5) + bias


def forward(params, tokens):
    embedded = jnp.take(params["embed.weight"], tokens, axis=0)
    gates = embedded @ params["gru.weight_ih_l0"].T + params["gru.bias_ih_l0"]

    def one(gates):
        def step(h, g):
            g = g.reshape(3, -1)
            u = (params["gru.weight_hh_l0"] @ h + params["gru.bias_hh_l0"]).reshape(3, -1)
            r, z = jax.nn.sigmoid(g[:2] + u[:2])
            h = (1 - z) * jnp.tanh(g[2] + r * u[2]) + z * h
            return h, h

        return lax.scan(step, jnp.zeros(gates.shape[1] // 3), gates)[1]

    hs = layer_norm(jax.vmap(one)(gates), params["norm.weight"], params["norm.bias"])
    return hs @ params["embed.weight"].T + params["out.bias"]


def apply(params, stats, x, rate, train, key):
    batch_mean = x.mean(axis=0)
    mean = jnp.where(train, batch_mean, stats["mean"])
    new = jnp.where(train, 0.8 * stats["mean"] + 0.2 * batch_mean, stats["mean"])
    x = x - mean
    if train:
        kept_entries = jax.random.uniform(key, x.shape) < 1 - rate
        x = kept_entries * x / (1 - rate)
    return x @ params["w"], {"mean": new}


def fit(params, stats, key, xs, ys, rate, lr):
    def loss(params, stats, x, y, key):
        out, stats = apply(params, stats, x, rate, True, key)
        return jnp.mean((out - y) ** 2), stats

    def body(i, carry):
        params, stats, losses = carry
        grads, new = jax.grad(loss, has_aux=True)(
            params, stats, xs[i], ys[i], jax.random.fold_in(key, i)
        )
        value, _ = loss(params, stats, xs[i], ys[i], jax.random.fold_in(key, i))
        params = jax.tree.map(lambda p, g: p - lr * g, params, grads)
        return params, new, losses.at[i].set(value)

    start = params, stats, jnp.zeros(xs.shape[0])
    return lax.fori_loop(0, xs.shape[0], body, start)
