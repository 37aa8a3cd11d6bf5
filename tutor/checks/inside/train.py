"""A training, for the predictions that follow."""

from typing import Any

from tutor.checks.inside.watched import watched
from tutor.sandbox.calls import Steps
from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    env.trained.clear()
    with watched(env, args["watch"]):
        trained = yield env.evaluate(args["train"], env.inputs(input_sets[0]))
    env.trained.append(trained)
    return {}
