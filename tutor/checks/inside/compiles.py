"""The programs that XLA compiles during a series of calls, and what each call gives."""

from typing import Any

from tutor.sandbox.calls import Steps
from tutor.sandbox.learner import TRACING_SETTINGS, LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    expression = args["expression"]
    inputs = [env.inputs(one) for one in input_sets]
    calls: list[Tree] = []
    encoded: Tree = None
    # Earlier checks have compiled the same operations, and code outside `jit` would seem to need
    # no compilation.
    with env.our_settings(*TRACING_SETTINGS), env.empty_caches():
        for values in inputs:
            programs: list[str] = []
            with env.compiles.programs_in(programs):
                value = yield env.evaluate(expression, values)
                # A value may compute only when it is read.
                tree = yield env.encode(value, expression)
            calls.append([*programs])
            encoded = encoded or tree
    ordinary = yield from env.value(expression, env.inputs(input_sets[0]))
    heard = "yes" if env.compiles.hears() else None
    return {"calls": calls, "watched": encoded, "value": ordinary, "heard": heard}
