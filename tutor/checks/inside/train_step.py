"""Steps of data-parallel training, and the contents of every device after each."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tutor.checks.inside.value import refer as refer
from tutor.sandbox.calls import UserCodeError
from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.calls import Steps
    from tutor.sandbox.learner import LearnerEnvironment


def observe(env: "LearnerEnvironment", args: dict[str, Any], input_sets: Any) -> "Steps[Tree]":
    import jax

    inputs = env.inputs(input_sets[0])
    state: dict[str, Any] = {}
    for name, text in args["start"].items():
        state[name] = yield env.evaluate(text, inputs)
    steps: list[Tree] = []
    for number in range(args["steps"]):
        before = yield from _optimizer(env, state)
        names = {**inputs, **state, "step": number}
        result = yield env.evaluate(args["train_step"], names)
        state, loss = _unpack(result, list(state), args["train_step"])
        single = yield env.evaluate(args["finish"], {**inputs, **state})
        steps.append(
            {
                "params": (yield env.encode(single, args["finish"])),
                "replicas": (yield from _replicas(env, next(iter(state.values())), single)),
                "loss": (yield from env.encode_each(_parts(loss, 0))),
                "optimizer before": before,
                "optimizer after": (yield from _optimizer(env, state)),
            }
        )
    devices = env.encoded(jax.local_device_count())
    observation: dict[str, Tree] = {"devices": devices, "steps": steps}
    if args["shard"] is not None:
        batch = yield env.evaluate(args["batch"], inputs)
        spread = yield env.evaluate(f"({args['shard']})({args['batch']})", inputs)
        observation["batch"] = yield env.encode(batch)
        observation["pieces"] = yield from env.encode_each(_parts(spread, batch.ndim))
    return observation


def _unpack(result: Any, names: list[str], running: str) -> tuple[dict[str, Any], Any]:
    if not isinstance(result, tuple | list) or len(result) != len(names) + 1:
        expected = ", ".join([*names, "loss"])
        returned = (
            f"{len(result)} values" if isinstance(result, tuple | list) else type(result).__name__
        )
        error = TypeError(f"the step must return ({expected}); it returned {returned}")
        raise UserCodeError(error, running)
    *values, loss = result
    return dict(zip(names, values, strict=True)), loss


def _optimizer(env: "LearnerEnvironment", state: dict[str, Any]) -> "Steps[list[Tree]]":
    """Return the arrays of the state after the parameters, which come first."""
    import jax

    _, *kept = state.values()
    return (yield from env.encode_each(jax.tree.leaves(kept)))


def _replicas(env: "LearnerEnvironment", params: Any, single: Any) -> "Steps[list[Tree]]":
    """Return the parameters on each device, one tree per device."""
    import jax

    ranks = [getattr(leaf, "ndim", 0) for leaf in jax.tree.leaves(single)]
    held, structure = jax.tree.flatten(params)
    if len(held) != len(ranks):
        return (yield from env.encode_each([params]))
    parts = [_parts(leaf, rank) for leaf, rank in zip(held, ranks, strict=True)]
    devices = range(max(map(len, parts), default=0))
    replicas = [
        jax.tree.unflatten(structure, [part[min(d, len(part) - 1)] for part in parts])
        for d in devices
    ]
    return (yield from env.encode_each(replicas))


def _parts(array: Any, rank: int) -> list[Any]:
    """Return each device's part of an array whose value has `rank` axes on one device.

    Either the array has a leading device axis (as for `pmap`, which takes NumPy arrays, too), or it
    is sharded or replicated over the devices (as from `jit` with shardings).
    """
    import jax

    if isinstance(array, list | tuple):
        return list(array)
    if not isinstance(array, jax.Array | np.ndarray):
        return [array]
    if array.ndim == rank + 1 and array.shape[0] == jax.local_device_count():
        return [array[device] for device in range(array.shape[0])]
    if isinstance(array, np.ndarray):
        return [array]
    shards = sorted(array.addressable_shards, key=lambda shard: shard.device.id)
    return [shard.data for shard in shards]
