"""Predictions for examples whose labels are not in this process.

They are asked for when the training has ended, and only then are the examples sent: no code of the
training can read them.
"""

from typing import Any

from tutor.sandbox.calls import Steps
from tutor.sandbox.conventions import HELD_OUT
from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    """Evaluate `predict` with the held-out examples as `x`, and without labels. Empty if the
    training returned nothing to predict with."""
    predict, inputs = args["predict"], input_sets[0]
    if predict is None or not env.trained:
        return {}
    given = {name: tree for name, tree in inputs.items() if name not in (HELD_OUT, "y")}
    names = {**env.inputs({**given, "x": inputs[HELD_OUT]}), "trained": env.trained.pop()}
    predictions = yield env.evaluate(predict, names)
    return {"predictions": (yield env.encode(predictions, predict))}
