"""A function under `jax.vmap`, and called once per example."""

from typing import TYPE_CHECKING, Any

from tutor.checks.inside.value import refer as refer
from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.calls import Steps
    from tutor.sandbox.learner import LearnerEnvironment


def observe(env: "LearnerEnvironment", args: dict[str, Any], input_sets: Any) -> "Steps[Tree]":
    import jax

    inputs = env.inputs(input_sets[0])
    name = " ".join(args["function"].split())
    function = yield env.evaluate(args["function"], inputs)
    arguments = yield from env.evaluate_each(args["args"], inputs)
    in_axes = args["in_axes"]
    axes = [in_axes] * len(arguments) if not isinstance(in_axes, list) else in_axes
    mapped = jax.vmap(function, in_axes=tuple(axes), out_axes=args["out_axes"])
    batched = yield env.call(f"jax.vmap({name}, in_axes={tuple(axes)})", mapped, *arguments)
    sizes = {
        leaf.shape[axis]
        for argument, axis in zip(arguments, axes, strict=True)
        if isinstance(axis, int)
        for leaf in jax.tree.leaves(argument)
    }
    if len(sizes) != 1:
        raise ValueError(f"the check maps axes of sizes {sorted(sizes)}")
    results = []
    for index in range(sizes.pop()):
        example = [take(a, axis, index) for a, axis in zip(arguments, axes, strict=True)]
        result = yield env.call(f"{name} of example {index}", function, *example)
        results.append((yield env.encode(result)))
    return {"batched": (yield env.encode(batched, name)), "one by one": results}


def take(argument: Any, axis: Any, index: int) -> Any:
    """Return example number `index` of a batched argument, given its entry of `in_axes`."""
    import jax

    if axis is None:
        return argument
    if isinstance(axis, dict):
        return {key: take(child, axis[key], index) for key, child in argument.items()}
    if isinstance(axis, list):
        children = zip(argument, axis, strict=True)
        return type(argument)(take(child, entry, index) for child, entry in children)
    return jax.tree.map(lambda leaf: leaf[(slice(None),) * (axis % leaf.ndim) + (index,)], argument)
