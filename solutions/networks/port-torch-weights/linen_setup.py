"""Linen with setup; fc1's inputs are permuted; rules by name for a flattened tree."""

import numpy as np
from flax import linen as nn
from flax.traverse_util import flatten_dict, unflatten_dict

pooled = (1, 5, 4, 8)

RENAMED = {
    "running_mean": ("batch_stats", "mean"),
    "running_var": ("batch_stats", "var"),
    "bias": ("params", "bias"),
}


class Net(nn.Module):
    def setup(self):
        pads = ((1, 1), (1, 1))
        self.conv1 = nn.Conv(8, (3, 2), strides=(2, 2), padding=pads, use_bias=False)
        self.conv2 = nn.Conv(8, (3, 3), padding="SAME", use_bias=False)
        self.bn1 = nn.BatchNorm(momentum=0.9, epsilon=1e-5)
        self.bn2 = nn.BatchNorm(momentum=0.9, epsilon=1e-5)
        self.fc1 = nn.Dense(48)
        self.fc2 = nn.Dense(10)

    def __call__(self, x, train=False):
        x = nn.relu(self.bn1(self.conv1(x), use_running_average=not train))
        x = nn.relu(self.bn2(self.conv2(x), use_running_average=not train))
        x = nn.max_pool(x, window_shape=(2, 2), strides=(2, 2), padding="VALID")
        x = x.reshape((x.shape[0], -1))
        return self.fc2(nn.relu(self.fc1(x)))


net = Net()

order = np.arange(48).reshape(8, 3, 2).transpose(1, 2, 0).ravel()


def convert(state):
    flat = {}
    for name, value in state.items():
        layer, part = name.split(".")
        if part == "num_batches_tracked":
            continue
        if part == "weight":
            part = "scale" if value.ndim == 1 else "kernel"
            collection = "params"
            if value.ndim == 4:
                value = np.moveaxis(value, (0, 1), (3, 2))
            if value.ndim == 2:
                value = value.T
            if layer == "fc1":
                value = value[order]
        else:
            collection, part = RENAMED[part]
        flat[collection, layer, part] = value
    return unflatten_dict(flat)


def logits(variables, images):
    return net.apply(variables, images, train=False)


def export(variables):
    state = {}
    for (_, layer, part), value in flatten_dict(variables).items():
        value = np.asarray(value)
        if part in ("mean", "var"):
            part = f"running_{part}"
        elif part != "bias":
            part = "weight"
        if value.ndim == 4:
            value = np.moveaxis(value, (3, 2), (0, 1))
        if value.ndim == 2:
            if layer == "fc1":
                value = value[np.argsort(order)]
            value = value.T
        state[f"{layer}.{part}"] = value
    return state
