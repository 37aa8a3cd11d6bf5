"""Time the translation against the original: shown after a pass, never judged."""

import os
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

from tutor.tree import Tree, leaves

if TYPE_CHECKING:
    from tutor.sandbox.calls import Steps
    from tutor.sandbox.learner import LearnerEnvironment
    from tutor.sandbox.reference import ReferenceEnvironment

_DEFAULTS: dict[str, int | bool] = {
    "xla_backend_optimization_level": 3,
    "xla_cpu_use_fusion_emitters": True,
}

SECONDS_PER_SIDE = 0.15
"""Time to spend on each side, after a warm-up."""


def observe(env: "LearnerEnvironment", args: dict[str, Any], input_sets: Any) -> "Steps[Tree]":
    import jax

    expression = args["expression"]
    tree: dict[str, Tree] = input_sets[0]
    kinds = {name: {leaf.type for _, leaf in leaves(value)} for name, value in tree.items()}
    arrays = [name for name, types in kinds.items() if types and types <= {"array", "key"}]
    inputs = env.inputs(tree)
    fixed = {name: value for name, value in inputs.items() if name not in arrays}
    function = env.function(expression, arrays, fixed)

    def call(function: Callable[..., Any]) -> "Steps[float]":
        # New inputs every time: the function may donate them.
        values = [env.fresh(tree[name]) for name in arrays]
        start = time.perf_counter()
        yield env.call(expression, function, *values)
        return time.perf_counter() - start

    # XLA's defaults, whatever flags this sandbox was started with.
    started_with = os.environ.get("XLA_FLAGS", "")
    options = {name: value for name, value in _DEFAULTS.items() if f"--{name}=" in started_with}
    jitted = jax.jit(function, compiler_options=options)
    jax.clear_caches()  # type: ignore[no-untyped-call]
    with env.programs.disabled():
        first = yield from call(jitted)
    end = time.perf_counter() + SECONDS_PER_SIDE
    seconds = [(yield from call(jitted))]
    while _go_on(seconds, end):
        seconds.append((yield from call(jitted)))
    return {"first": env.encoded(first), "warm": env.encoded(median(seconds))}


def refer(env: "ReferenceEnvironment", args: dict[str, Any], input_sets: Any) -> tuple[Tree, float]:
    from tutor.sandbox.calls import perform

    expression = args["expression"]

    def call() -> float:
        inputs = env.inputs(input_sets[0])
        start = time.perf_counter()
        perform(env.evaluate(expression, inputs))
        return time.perf_counter() - start

    call()
    end = time.perf_counter() + SECONDS_PER_SIDE
    seconds = [call()]
    while _go_on(seconds, end):
        seconds.append(call())
    return None, median(seconds)


def _go_on(seconds: list[float], end: float) -> bool:
    return time.perf_counter() < end and len(seconds) < 200
