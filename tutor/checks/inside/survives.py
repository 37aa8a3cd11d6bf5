"""Trace the learner's functions under the transformations that they must survive."""

from collections.abc import Callable
from typing import Any
from zlib import crc32

import jax
import jax.numpy as jnp
from jax import grad, jit, make_jaxpr, vmap

from tutor.sandbox.adapters import Arrays, summed
from tutor.sandbox.calls import Steps
from tutor.sandbox.learner import TRACING_SETTINGS, LearnerEnvironment
from tutor.tree import Tree, leaves


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    tree = input_sets[0]
    # Compiling each of them would take as long as everything else: the inputs choose one.
    numbers = b"".join(leaf.values.tobytes() for _, leaf in leaves(tree))
    compared = crc32(numbers) % len(args["calls"])
    observed: list[Tree] = []
    for number, call in enumerate(args["calls"]):
        name = call["function"]
        function = yield env.evaluate(name, env.inputs(tree))
        values = yield from env.evaluate_each(call["args"], env.inputs(tree))
        traced = yield from _traced(env, name, function, values, args["survives"])
        seen: list[Tree] = []
        if number == compared and traced is not None:
            # New arguments, which may be donated.
            values = yield from env.evaluate_each(call["args"], env.inputs(tree))
            arrays = Arrays(values, _is_array).chosen
            result = yield env.call(name, traced.lower().compile(), *arrays)
            seen = [(yield env.encode(jax.tree.leaves(result), name))]
            for _ in range(2):
                values = yield from env.evaluate_each(call["args"], env.inputs(tree))
                direct = yield env.call(name, function, *values)
                seen.append((yield env.encode(jax.tree.leaves(direct), name)))
        observed.append({"function": name, "seen": seen})
    return observed


def _traced(
    env: LearnerEnvironment,
    name: str,
    function: Callable[..., Any],
    values: list[Any],
    survives: list[str],
) -> Steps[Any]:
    """Trace a call under every transformation; return the trace under `jit`, if there is one."""
    given = Arrays(values, _is_array)
    traced: Any = None
    for transformation in survives:
        running = f"jax.{transformation} of {name}"
        with env.our_settings(*TRACING_SETTINGS):
            if transformation == "jit" and given.chosen:
                compiled = jit(given.function(function))
                traced = yield env.call(running, compiled.trace, *given.chosen)
            elif transformation in _TRIALS:
                trial = _TRIALS[transformation](function, values, "jit" in survives)
                if trial is not None:
                    yield env.call(running, *trial)
    return traced


def _vmap(function: Callable[..., Any], values: list[Any], traced: bool) -> Any:
    """Return the function to call, and its arguments: over a batch of two; with `traced`, only to
    be traced."""
    given = Arrays(values, _is_array)
    mapped = vmap(given.function(function))
    if not given.chosen:
        return None
    if traced:
        return make_jaxpr(mapped), *map(_batch_of_two, given.chosen)
    return mapped, *(jnp.stack([array, array]) for array in given.chosen)


def _grad(function: Callable[..., Any], values: list[Any], traced: bool) -> Any:
    """As above, to differentiate the sum of all real results with respect to all real arrays."""
    given = Arrays(values, _is_real)
    if not given.chosen:
        return None
    numbers = tuple(range(len(given.chosen)))
    gradient = grad(summed(given.function(function), _is_real), argnums=numbers)
    return (make_jaxpr(gradient) if traced else gradient), *given.chosen


_TRIALS = {"grad": _grad, "vmap": _vmap}


def _batch_of_two(array: Any) -> Any:
    return jax.ShapeDtypeStruct((2, *array.shape), array.dtype)  # type: ignore[no-untyped-call]


def _is_array(value: Any) -> bool:
    return isinstance(value, jax.Array)


def _is_real(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.floating)
