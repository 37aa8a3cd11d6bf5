"""The values of several expressions, each evaluated on its own copy of the inputs."""

from typing import Any

from tutor.sandbox.calls import Steps
from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    values: list[Tree] = []
    for expression in args["expressions"]:
        values += [(yield from env.value(expression, env.inputs(input_sets[0])))]
    return values
