"""Train, then predict for inputs whose labels are not in this process."""

from typing import Any

from tutor.checks.inside.held_out import predictions, seen
from tutor.checks.inside.watched import watched
from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Tree:
    with watched(env, args["watch"]):
        trained = env.evaluate(args["train"], env.inputs(seen(input_sets[0])))
    return predictions(env, args["predict"], input_sets[0], trained)
