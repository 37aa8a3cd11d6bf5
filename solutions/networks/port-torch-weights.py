"""Layers keep PyTorch's names: only kinds of layers need rules, and rules can be undone."""

import flax.linen as nn

pooled = (1, 5, 4, 8)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(8, (3, 2), strides=2, padding=1, use_bias=False, name="conv1")(x)
        x = nn.relu(nn.BatchNorm(use_running_average=True, name="bn1")(x))
        x = nn.Conv(8, (3, 3), padding=1, use_bias=False, name="conv2")(x)
        x = nn.relu(nn.BatchNorm(use_running_average=True, name="bn2")(x))
        x = nn.max_pool(x, (2, 2), strides=(2, 2))
        x = x.transpose(0, 3, 1, 2).reshape(len(x), -1)
        x = nn.relu(nn.Dense(48, name="fc1")(x))
        return nn.Dense(10, name="fc2")(x)


def convert(state):
    params, stats = {}, {}
    for conv in ("conv1", "conv2"):
        params[conv] = {"kernel": state[f"{conv}.weight"].transpose(2, 3, 1, 0)}
    for norm in ("bn1", "bn2"):
        params[norm] = {"scale": state[f"{norm}.weight"], "bias": state[f"{norm}.bias"]}
        stats[norm] = {"mean": state[f"{norm}.running_mean"], "var": state[f"{norm}.running_var"]}
    for fc in ("fc1", "fc2"):
        params[fc] = {"kernel": state[f"{fc}.weight"].T, "bias": state[f"{fc}.bias"]}
    return {"params": params, "batch_stats": stats}


def logits(variables, images):
    return Net().apply(variables, images)


def export(variables):
    params, stats = variables["params"], variables["batch_stats"]
    state = {}
    for conv in ("conv1", "conv2"):
        state[f"{conv}.weight"] = params[conv]["kernel"].transpose(3, 2, 0, 1)
    for norm in ("bn1", "bn2"):
        state[f"{norm}.weight"] = params[norm]["scale"]
        state[f"{norm}.bias"] = params[norm]["bias"]
        state[f"{norm}.running_mean"] = stats[norm]["mean"]
        state[f"{norm}.running_var"] = stats[norm]["var"]
    for fc in ("fc1", "fc2"):
        state[f"{fc}.weight"] = params[fc]["kernel"].T
        state[f"{fc}.bias"] = params[fc]["bias"]
    return state
