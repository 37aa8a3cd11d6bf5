"""An expression evaluated twice and under `jit`, with a check for leaked tracers."""

import re
import types
from typing import Any

import jax
import numpy as np

from tutor.checks.inside.arguments import watched_functions
from tutor.checks.inside.promises import broken_promises
from tutor.sandbox.calls import Call, Steps, UserCodeError
from tutor.sandbox.learner import TRACING_SETTINGS, LearnerEnvironment
from tutor.tree import Tree, leaves


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    expression, tree = args["expression"], input_sets[0]
    inputs = env.inputs(tree)
    numbers = _numbers(env)
    first = yield from env.value(expression, inputs)
    changed: list[Tree] = [
        name
        for name, value in _numbers(env).items()
        if name in numbers and value is not numbers[name]
    ]
    # Compiled functions must trace again, or they would not read changed globals.
    yield from env.forget_traces()
    written: list[str] = []
    watched = watched_functions(env, expression, written.append)
    observation: dict[str, Tree] = {
        "first": first,
        "inputs before": env.encoded(env.inputs(tree)),
        "inputs after": (yield _after(env, inputs, tree)),
        "again": (yield from env.value(expression, {**watched, **env.inputs(tree)})),
        "promises": [*(yield from broken_promises(env, expression, env.inputs(tree)))],
    }
    observation["written"] = [*dict.fromkeys(written)]
    if args["jit"]:
        observation |= {"changed": changed, **(yield from _jitted(env, expression, tree))}
    return observation


def _numbers(env: LearnerEnvironment) -> dict[str, Any]:
    """Return what is a number or an array of the module's globals, and of the attributes of its
    functions and classes, such as counters and state, but not caches in containers."""
    kinds = (int, float, complex, np.ndarray, np.generic, jax.Array)
    spaces = {"": vars(env.module)}
    for name, value in vars(env.module).items():
        if isinstance(value, type | types.FunctionType) and value.__module__ == env.module_name:
            spaces[f"{name}."] = dict(vars(value))
    return {
        f"{space}{name}": value
        for space, names in spaces.items()
        for name, value in names.items()
        if isinstance(value, kinds)
    }


def _after(env: LearnerEnvironment, inputs: dict[str, Any], tree: dict[str, Tree]) -> Call:
    """Encode the inputs after the call. Donated arrays can no longer be read and count as
    unchanged: that is the contract of `donate_argnums`."""
    originals = env.inputs(tree)

    def exists(leaf: Any) -> bool:
        return not (isinstance(leaf, jax.Array) and leaf.is_deleted())

    if str(jax.tree.structure(inputs)) != str(jax.tree.structure(originals)):
        return env.encode(inputs)
    return env.encode(jax.tree.map(lambda a, b: a if exists(a) else b, inputs, originals))


def _jitted(
    env: LearnerEnvironment, expression: str, tree: dict[str, Tree]
) -> Steps[dict[str, Tree]]:
    arrays = [
        name
        for name, value in tree.items()
        if any(leaf.type in ("array", "key") for _, leaf in leaves(value))
        and all(leaf.type in ("array", "key") for _, leaf in leaves(value))
    ]
    inputs = env.inputs(tree)
    fixed = {name: value for name, value in inputs.items() if name not in arrays}
    running = f"jax.jit of {' '.join(expression.split())}"

    function = jax.jit(env.function(expression, arrays, fixed))
    values = [env.fresh(tree[name]) for name in arrays]
    jitted: Tree = None
    leak = ""
    try:
        # A cached trace of an inner function would hide its leaks.
        with env.our_settings(*TRACING_SETTINGS):
            with env.empty_caches(), jax.checking_leaks():
                traced = yield env.call(running, function.trace, *values)
            value = yield env.call(running, traced.lower().compile(), *values)
            jitted = yield env.encode(value, running)
    except UserCodeError as error:
        leak = str(error.cause)
        if not leak.startswith("Leaked"):
            raise
    return {"jitted": jitted, "leak": _shorter(leak), "globals": [*_escaped(env)]}


def _shorter(leak: str) -> str:
    """Return JAX's message about where a tracer went, without addresses."""
    if not leak:
        return ""
    where = list(dict.fromkeys(re.findall(r"is referred to by submission\.(\w+)", leak)))
    if where:
        return f"it is kept in the global `{'`, `'.join(where)}`"
    return re.sub(r"<(\w+) \d+>", r"a \1", leak.partition("\n\n")[0])


def _escaped(env: LearnerEnvironment) -> list[Tree]:
    """Return the globals of the module that hold a tracer, directly or in a container."""

    def holds(value: Any, depth: int) -> bool:
        if isinstance(value, jax.core.Tracer):
            return True
        if depth == 0:
            return False
        if isinstance(value, dict):
            return any(holds(child, depth - 1) for child in value.values())
        if isinstance(value, list | tuple | set):
            return any(holds(child, depth - 1) for child in value)
        return False

    return [name for name, value in list(env.module.__dict__.items()) if holds(value, 3)]
