"""NNX: fc1 takes the features as they are; its inputs are permuted once."""

import jax
import numpy as np
from flax import nnx

pooled = (1, 5, 4, 8)


class Net(nnx.Module):
    def __init__(self, rngs):
        self.conv1 = nnx.Conv(
            3, 8, (3, 2), strides=(2, 2), padding=(1, 1), use_bias=False, rngs=rngs
        )
        self.bn1 = nnx.BatchNorm(8, use_running_average=True, rngs=rngs)
        self.conv2 = nnx.Conv(8, 8, (3, 3), padding=1, use_bias=False, rngs=rngs)
        self.bn2 = nnx.BatchNorm(8, use_running_average=True, rngs=rngs)
        self.fc1 = nnx.Linear(48, 48, rngs=rngs)
        self.fc2 = nnx.Linear(48, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.bn1(self.conv1(x)))
        x = nnx.relu(self.bn2(self.conv2(x)))
        x = nnx.max_pool(x, (2, 2), strides=(2, 2))
        x = nnx.relu(self.fc1(x.reshape(x.shape[0], -1)))
        return self.fc2(x)


graphdef, empty = nnx.split(nnx.eval_shape(lambda: Net(nnx.Rngs(0))))

NAMES = {
    ("kernel", 4): "weight",
    ("kernel", 2): "weight",
    ("scale", 1): "weight",
    ("bias", 1): "bias",
    ("mean", 1): "running_mean",
    ("var", 1): "running_var",
}


def torch_name(path, leaf):
    layer, part = path
    return f"{layer}.{NAMES[part, len(leaf.shape)]}"


def convert(state):
    flat = {}
    for path, leaf in nnx.to_flat_state(empty):
        value = np.asarray(state[torch_name(path, leaf)])
        if value.ndim == 4:
            value = value.transpose(2, 3, 1, 0)
        elif path == ("fc1", "kernel"):
            value = value.reshape(48, 8, 3, 2).transpose(2, 3, 1, 0).reshape(48, 48)
        elif value.ndim == 2:
            value = value.T
        flat[path] = leaf.replace(jax.numpy.asarray(value))
    return nnx.from_flat_state(flat)


def logits(variables, images):
    return nnx.merge(graphdef, variables)(images)


def export(variables):
    state = {}
    for path, leaf in nnx.to_flat_state(variables):
        value = np.asarray(leaf.get_value())
        if value.ndim == 4:
            value = value.transpose(3, 2, 0, 1)
        elif path == ("fc1", "kernel"):
            value = value.reshape(3, 2, 8, 48).transpose(3, 2, 0, 1).reshape(48, 48)
        elif value.ndim == 2:
            value = value.T
        state[torch_name(path, value)] = value
    return state
