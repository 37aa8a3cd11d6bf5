"""Trace the learner's functions under the transformations that they must survive."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tutor.sandbox.learner import TRACING_SETTINGS, LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Tree:
    for call in args["calls"]:
        inputs = env.inputs(input_sets[0])
        function = env.evaluate(call["function"], inputs)
        values = [env.evaluate(argument, inputs) for argument in call["args"]]
        for name in args["survives"]:
            running = f"jax.{name} of {call['function']}"
            with env.our_settings(*TRACING_SETTINGS):
                env.call(running, _TRIALS[name], function, values, "jit" in args["survives"])
    return [call["function"] for call in args["calls"]]


def _jit(function: Callable[..., Any], values: list[Any], traced: bool) -> None:
    arrays, rejoined = _separated(values, _is_array)
    if arrays:
        jax.make_jaxpr(lambda *given: function(*rejoined(given)))(*arrays)


def _vmap(function: Callable[..., Any], values: list[Any], traced: bool) -> None:
    """Map over a batch of two; with `traced`, only trace."""
    arrays, rejoined = _separated(values, _is_array)
    if not arrays:
        return
    mapped = jax.vmap(lambda *given: function(*rejoined(given)))
    if traced:
        batch = [_batch_of_two(array) for array in arrays]
        jax.make_jaxpr(mapped)(*batch)
    else:
        jax.block_until_ready(mapped(*(jnp.stack([array, array]) for array in arrays)))  # type: ignore[no-untyped-call]


def _grad(function: Callable[..., Any], values: list[Any], traced: bool) -> None:
    """Differentiate the sum of all real results with respect to all real arrays."""
    arrays, rejoined = _separated(values, _is_real)

    def total(given: list[Any]) -> Any:
        results = jax.tree.leaves(function(*rejoined(given)))
        start = jnp.zeros((), jnp.float32)  # not float64, which strict promotion refuses
        return sum((r.astype(jnp.float32).sum() for r in results if _is_real(r)), start)

    if arrays:
        gradient = jax.grad(total)
        if traced:
            jax.make_jaxpr(gradient)(arrays)
        else:
            jax.block_until_ready(gradient(arrays))  # type: ignore[no-untyped-call]


_TRIALS = {"jit": _jit, "grad": _grad, "vmap": _vmap}


def _separated(
    values: list[Any], chosen: Callable[[Any], bool]
) -> tuple[list[Any], Callable[[Any], list[Any]]]:
    """Return the chosen leaves of the arguments, and a function that replaces them."""
    leaves, structure = jax.tree.flatten(values)
    where = [i for i, leaf in enumerate(leaves) if chosen(leaf)]

    def rejoined(given: Any) -> list[Any]:
        changed = list(leaves)
        for i, leaf in zip(where, given, strict=True):
            changed[i] = leaf
        whole: list[Any] = jax.tree.unflatten(structure, changed)
        return whole

    return [leaves[i] for i in where], rejoined


def _batch_of_two(array: Any) -> Any:
    return jax.ShapeDtypeStruct((2, *array.shape), array.dtype)  # type: ignore[no-untyped-call]


def _is_array(value: Any) -> bool:
    return isinstance(value, jax.Array)


def _is_real(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.floating)
