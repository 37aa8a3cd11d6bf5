"""The values of several expressions, each evaluated on its own copy of the inputs."""

from typing import Any

from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Tree:
    return [
        env.encode(env.evaluate(expression, env.inputs(input_sets[0])), expression)
        for expression in args["expressions"]
    ]
