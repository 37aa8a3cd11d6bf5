"""The operations of an expression's trace, and what happens to buffers when it runs."""

import contextlib
from typing import Any

import jax
import jax.numpy as jnp

from tutor.sandbox.environment import UserCodeError
from tutor.sandbox.learner import TRACING_SETTINGS, LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Tree:
    expression, tree = args["expression"], input_sets[0]
    observation: dict[str, Tree] = {}
    if args["trace"]:
        inputs = env.inputs(tree)
        with env.our_settings(*TRACING_SETTINGS):
            names, size = _traced(env, expression, inputs)
            observation |= {"operations": [*names], "size": env.encode(size)}
            if args["steady"]:
                other = {
                    name: env.evaluate(text, env.inputs(tree))
                    for name, text in args["steady"].items()
                }
                _, other_size = _traced(env, expression, {**inputs, **other})
                observation["other size"] = env.encode(other_size)
                longest = max(_difference(inputs.get(name), other[name]) for name in other)
                observation["longer"] = env.encode(longest)
                with contextlib.suppress(UserCodeError):  # a length that the function refuses
                    twice = {name: _doubled(inputs.get(name), other[name]) for name in other}
                    _, twice_size = _traced(env, expression, {**inputs, **twice})
                    observation["twice size"] = env.encode(twice_size)
    if args["donates"]:
        inputs = env.inputs(tree)
        env.evaluate(expression, inputs)
        observation["deleted"] = [
            name
            for name, value in inputs.items()
            if (arrays := _arrays(value)) and all(array.is_deleted() for array in arrays)
        ]
    if args["lives"]:
        result = env.evaluate(expression, env.inputs(tree))
        places = jax.tree_util.tree_flatten_with_path(result)[0]
        observation["places"] = [
            [jax.tree_util.keystr(path), _place(array)]
            for path, array in places
            if isinstance(array, jax.Array)
        ]
    return observation


def _traced(
    env: LearnerEnvironment, expression: str, inputs: dict[str, Any]
) -> tuple[list[str], int]:
    """Return the names of all operations, each once, and the number of operations."""
    arrays = {name: value for name, value in inputs.items() if _only_arrays(value)}
    rest = {name: value for name, value in inputs.items() if name not in arrays}
    function = env.function(expression, [*arrays], rest)
    jaxpr = env.call(
        expression, lambda *values: jax.make_jaxpr(function)(*values), *arrays.values()
    )
    names: dict[str, None] = {}
    count = 0

    def walk(value: Any) -> None:
        nonlocal count
        inner = getattr(value, "jaxpr", value)
        if hasattr(inner, "eqns"):
            for equation in inner.eqns:
                names[equation.primitive.name] = None
                before = count
                for parameter in equation.params.values():
                    walk(parameter)
                # A call of another program is none, only what that contains is.
                count += count == before
        elif isinstance(value, list | tuple):
            for one in value:
                walk(one)

    walk(jaxpr)
    return [*names], count


def _arrays(value: Any) -> list[Any]:
    return [leaf for leaf in jax.tree.leaves(value) if isinstance(leaf, jax.Array)]


def _only_arrays(value: Any) -> bool:
    return bool(found := jax.tree.leaves(value)) and len(_arrays(value)) == len(found)


def _difference(one: Any, other: Any) -> int:
    """Return by how much the longest changed axis of an input changed, or an integer."""

    def gap(a: Any, b: Any) -> int:
        if isinstance(a, int):
            return abs(a - int(b))
        return max((abs(m - n) for m, n in zip(a.shape, b.shape, strict=False)), default=0)

    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=False)
    return max((gap(a, b) for a, b in pairs), default=0)


def _doubled(one: Any, other: Any) -> Any:
    """Return the longer of two inputs with its arrays twice as long along the changed axes, or
    twice the larger of two integers."""

    def double(a: Any, b: Any) -> Any:
        if isinstance(a, int):
            return 2 * max(a, b)
        longer = a if a.size >= b.size else b
        for axis, (m, n) in enumerate(zip(a.shape, b.shape, strict=True)):
            if m != n:
                longer = jnp.concatenate([longer, longer], axis)
        return longer

    return jax.tree.map(double, one, other)


def _place(array: Any) -> str:
    if len(array.sharding.device_set) == 1:
        return "on one device"
    return "replicated" if array.sharding.is_fully_replicated else "split"
