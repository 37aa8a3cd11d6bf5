import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

kernel = (5, 4, 3, 8)
running = 0.2
kept = 0.25


class Tagger(nn.Module):
    words: int
    d: int

    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(self.words, self.d, name="embed")
        bias = self.param("bias", nn.initializers.zeros, (self.words,))
        gru = nn.scan(
            nn.GRUCell,
            variable_broadcast="params",
            split_rngs={"params": False},
            in_axes=1,
            out_axes=1,
        )(features=self.d, name="gru")
        x = embed(tokens)
        _, hs = gru(jnp.zeros_like(x[:, 0]), x)
        return embed.attend(nn.LayerNorm(epsilon=1e-5, name="norm")(hs)) + bias


def _gates(a):
    return dict(zip("rzn", jnp.split(jnp.asarray(a), 3), strict=True))


def from_torch(state):
    w_i, w_h = _gates(state["gru.weight_ih_l0"]), _gates(state["gru.weight_hh_l0"])
    b_i, b_h = _gates(state["gru.bias_ih_l0"]), _gates(state["gru.bias_hh_l0"])
    # Linen's cell has no bias in hr and hz; PyTorch's second one is kept beside it.
    return {
        "cell": {
            **{f"i{g}": {"kernel": w_i[g].T, "bias": b_i[g]} for g in "rzn"},
            **{f"h{g}": {"kernel": w_h[g].T} for g in "rz"},
            "hn": {"kernel": w_h["n"].T, "bias": b_h["n"]},
        },
        "second": {g: b_h[g] for g in "rz"},
        "embed": jnp.asarray(state["embed.weight"]),
        "norm": {"scale": state["norm.weight"], "bias": state["norm.bias"]},
        "bias": state["out.bias"],
    }


def to_torch(params):
    cell = params["cell"]
    return {
        "embed.weight": params["embed"],
        "gru.weight_ih_l0": jnp.concatenate([cell[f"i{g}"]["kernel"].T for g in "rzn"]),
        "gru.weight_hh_l0": jnp.concatenate([cell[f"h{g}"]["kernel"].T for g in "rzn"]),
        "gru.bias_ih_l0": jnp.concatenate([cell[f"i{g}"]["bias"] for g in "rzn"]),
        "gru.bias_hh_l0": jnp.concatenate(
            [params["second"]["r"], params["second"]["z"], cell["hn"]["bias"]]
        ),
        "norm.weight": params["norm"]["scale"],
        "norm.bias": params["norm"]["bias"],
        "out.weight": params["embed"],
        "out.bias": params["bias"],
    }


def forward(params, tokens):
    cell = dict(params["cell"])
    for g in "rz":
        layer = cell[f"i{g}"]
        cell[f"i{g}"] = {**layer, "bias": layer["bias"] + params["second"][g]}
    variables = {
        "params": {
            "gru": cell,
            "embed": {"embedding": params["embed"]},
            "norm": params["norm"],
            "bias": params["bias"],
        }
    }
    return Tagger(*np.shape(params["embed"])).apply(variables, tokens)


def apply(params, stats, x, rate, train, key):
    mean = jnp.mean(x, axis=0)
    if not train:
        return (x - stats["mean"]) @ params["w"], stats
    mask = jax.random.uniform(key, x.shape) >= rate
    out = jnp.einsum("nd,dk->nk", (x - mean) * mask / (1 - rate), params["w"])
    return out, {"mean": stats["mean"] + 0.2 * (mean - stats["mean"])}


def fit(params, stats, key, xs, ys, rate, lr):
    tx = optax.sgd(lr)

    @jax.jit
    def step(params, stats, state, x, y, key):
        def loss(params):
            out, new = apply(params, stats, x, rate, True, key)
            return jnp.mean(jnp.square(out - y)), new

        (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state = tx.update(grads, state)
        return optax.apply_updates(params, updates), stats, state, value

    state, losses = tx.init(params), []
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        params, stats, state, value = step(params, stats, state, x, y, jax.random.fold_in(key, i))
        losses.append(value)
    return params, stats, jnp.stack(losses)
