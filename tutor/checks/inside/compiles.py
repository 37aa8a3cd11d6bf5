"""The programs that XLA compiles during a series of calls."""

from functools import partial
from typing import Any

from tutor.sandbox.learner import TRACING_SETTINGS, LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Tree:
    expression = args["expression"]
    inputs = [env.inputs(one) for one in input_sets]
    calls: list[Tree] = []
    # Earlier checks have compiled the same operations, and code outside `jit` would seem to need
    # no compilation.
    with env.our_settings(*TRACING_SETTINGS), env.empty_caches():
        for values in inputs:
            programs = env.compiles.during(partial(env.evaluate, expression, values))
            calls.append([*programs])
    return calls
