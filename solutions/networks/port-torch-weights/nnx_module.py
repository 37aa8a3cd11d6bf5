"""convert returns the NNX module itself, which is a pytree."""

import jax.numpy as jnp
from flax import nnx

pooled = (1, 5, 4, 8)


class Net(nnx.Module):
    def __init__(self):
        rngs = nnx.Rngs(0)
        self.conv1 = nnx.Conv(3, 8, (3, 2), strides=2, padding=1, use_bias=False, rngs=rngs)
        self.bn1 = nnx.BatchNorm(8, rngs=rngs)
        self.conv2 = nnx.Conv(8, 8, (3, 3), padding=1, use_bias=False, rngs=rngs)
        self.bn2 = nnx.BatchNorm(8, rngs=rngs)
        self.fc1 = nnx.Linear(48, 48, rngs=rngs)
        self.fc2 = nnx.Linear(48, 10, rngs=rngs)
        self.eval()

    def __call__(self, x):
        x = nnx.relu(self.bn1(self.conv1(x)))
        x = nnx.relu(self.bn2(self.conv2(x)))
        x = nnx.max_pool(x, (2, 2), (2, 2))
        x = jnp.moveaxis(x, 3, 1).reshape(len(x), -1)
        return self.fc2(nnx.relu(self.fc1(x)))


def convert(state):
    net = Net()
    for conv in ("conv1", "conv2"):
        getattr(net, conv).kernel[...] = jnp.einsum("oihw->hwio", state[conv + ".weight"])
    for bn in ("bn1", "bn2"):
        layer = getattr(net, bn)
        layer.scale[...] = state[bn + ".weight"]
        layer.bias[...] = state[bn + ".bias"]
        layer.mean[...] = state[bn + ".running_mean"]
        layer.var[...] = state[bn + ".running_var"]
    for fc in ("fc1", "fc2"):
        layer = getattr(net, fc)
        layer.kernel[...] = state[fc + ".weight"].T
        layer.bias[...] = state[fc + ".bias"]
    return net


def logits(variables, images):
    return variables(images)


def export(variables):
    net, state = variables, {}
    for conv in ("conv1", "conv2"):
        state[conv + ".weight"] = jnp.einsum("hwio->oihw", getattr(net, conv).kernel[...])
    for bn in ("bn1", "bn2"):
        layer = getattr(net, bn)
        state[bn + ".weight"] = layer.scale[...]
        state[bn + ".bias"] = layer.bias[...]
        state[bn + ".running_mean"] = layer.mean[...]
        state[bn + ".running_var"] = layer.var[...]
        state[bn + ".num_batches_tracked"] = jnp.zeros((), jnp.int32)
    for fc in ("fc1", "fc2"):
        layer = getattr(net, fc)
        state[fc + ".weight"] = layer.kernel[...].T
        state[fc + ".bias"] = layer.bias[...]
    return state
