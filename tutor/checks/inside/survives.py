"""Trace the learner's functions under the transformations that they must survive."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import grad, make_jaxpr, vmap
from jax.extend.core import jaxpr_as_fun

from tutor.sandbox.adapters import Arrays, summed
from tutor.sandbox.calls import Steps
from tutor.sandbox.learner import TRACING_SETTINGS, LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    observed: list[Tree] = []
    for call in args["calls"]:
        seen = yield from _observed(env, call["function"], call["args"], input_sets[0], args)
        observed.append({"function": call["function"], **seen})
    return observed


def _observed(
    env: LearnerEnvironment,
    name: str,
    expressions: list[str],
    tree: dict[str, Tree],
    args: dict[str, Any],
) -> Steps[dict[str, Tree]]:
    """Return what the function gives when it is traced, and when it is called."""
    function = yield env.evaluate(name, env.inputs(tree))
    values = yield from env.evaluate_each(expressions, env.inputs(tree))
    given = Arrays(values, _is_array)
    traced: Any = None
    for transformation in args["survives"]:
        running = f"jax.{transformation} of {name}"
        with env.our_settings(*TRACING_SETTINGS):
            if transformation == "jit" and given.chosen:
                trace = make_jaxpr(given.function(function))
                traced = yield env.call(running, trace, *given.chosen)
            elif transformation in _TRIALS:
                trial = _TRIALS[transformation](function, values, "jit" in args["survives"])
                if trial is not None:
                    yield env.call(running, *trial)
    if traced is None:
        return {"traced": None, "called": None}
    # New arguments each time, which may be donated.
    values = yield from env.evaluate_each(expressions, env.inputs(tree))
    result = yield env.call(name, jaxpr_as_fun(traced), *Arrays(values, _is_array).chosen)
    values = yield from env.evaluate_each(expressions, env.inputs(tree))
    direct = yield env.call(name, function, *values)
    return {
        "traced": (yield env.encode(result, name)),
        "called": (yield env.encode(jax.tree.leaves(direct), name)),
    }


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
