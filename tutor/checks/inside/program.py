"""The operations of an expression's trace, and what happens to buffers when it runs."""

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
from jax import jit, make_jaxpr

from tutor.sandbox.calls import Steps, UserCodeError
from tutor.sandbox.learner import TRACING_SETTINGS, LearnerEnvironment
from tutor.tree import Tree

MAX_COMPILED = 500
"""Operations up to which a program is compiled as a whole: XLA takes milliseconds for each, and
a loop in Python that was unrolled has thousands. Of 258 right programs of the course, the longest
has 250."""


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    expression, tree = args["expression"], input_sets[0]
    observation: dict[str, Tree] = {}
    if args["trace"]:
        with env.our_settings(*TRACING_SETTINGS):
            observation |= yield from _traced(env, expression, tree)
            if args["steady"]:
                observation |= yield from _grown(env, expression, tree, args["steady"])
    inputs = env.inputs(tree)
    result = yield env.evaluate(expression, inputs)
    observation["value"] = yield env.encode(result, expression)
    if args["donates"]:
        observation["deleted"] = [
            name
            for name, value in inputs.items()
            if (arrays := _arrays(value)) and all(array.is_deleted() for array in arrays)
        ]
    if args["lives"]:
        places = jax.tree_util.tree_flatten_with_path(result)[0]
        observation["places"] = [
            [jax.tree_util.keystr(path), _place(array)]
            for path, array in places
            if isinstance(array, jax.Array)
        ]
    return observation


def _traced(
    env: LearnerEnvironment, expression: str, tree: dict[str, Tree]
) -> Steps[dict[str, Tree]]:
    """Return the operations of the trace, and what the program gives that was compiled from it, in
    a list; None if it is too long."""
    inputs = env.inputs(tree)
    names = [name for name, value in inputs.items() if _only_arrays(value)]
    rest = {name: value for name, value in inputs.items() if name not in names}
    values = [inputs[name] for name in names]
    traced = yield env.call(expression, jit(env.function(expression, names, rest)).trace, *values)
    operations, size = _operations(traced.jaxpr)
    compiled: Tree = None
    if size <= MAX_COMPILED:
        result = yield env.call(expression, traced.lower().compile(), *values)
        compiled = [(yield env.encode(result, expression))]
    return {"operations": [*operations], "size": env.encoded(size), "compiled": compiled}


def _grown(
    env: LearnerEnvironment, expression: str, tree: dict[str, Tree], steady: dict[str, str]
) -> Steps[dict[str, Tree]]:
    """Return the numbers of operations for other lengths of some inputs."""
    inputs = env.inputs(tree)
    other: dict[str, Any] = {}
    for name, text in steady.items():
        other[name] = yield env.evaluate(text, env.inputs(tree))
    longest = max(_difference(inputs.get(name), other[name]) for name in other)
    other_size = yield from _size(env, expression, {**inputs, **other})
    observation: dict[str, Tree] = {
        "other size": env.encoded(other_size),
        "longer": env.encoded(longest),
    }
    with contextlib.suppress(UserCodeError):  # a length that the function refuses
        twice = {name: _doubled(inputs.get(name), other[name]) for name in other}
        twice_size = yield from _size(env, expression, {**inputs, **twice})
        observation["twice size"] = env.encoded(twice_size)
    return observation


def _size(env: LearnerEnvironment, expression: str, inputs: dict[str, Any]) -> Steps[int]:
    """Return the number of operations of a trace."""
    names = [name for name, value in inputs.items() if _only_arrays(value)]
    rest = {name: value for name, value in inputs.items() if name not in names}
    function = env.function(expression, names, rest)
    jaxpr = yield env.call(expression, make_jaxpr(function), *(inputs[name] for name in names))
    return _operations(jaxpr)[1]


def _operations(jaxpr: Any) -> tuple[list[str], int]:
    """Return the names of all operations, each once, and the number of operations."""
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
