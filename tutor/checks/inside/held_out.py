"""Predictions for examples whose labels are not in this process."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.learner import LearnerEnvironment

HELD_OUT = "held out"
"""The input that holds them: no expression can name it."""


def predictions(
    env: "LearnerEnvironment", predict: str, inputs: Mapping[str, Tree], trained: Any
) -> Tree:
    """Evaluate `predict` with the held-out examples as `x`, and without labels."""
    given = {name: tree for name, tree in inputs.items() if name not in (HELD_OUT, "y")}
    names = {**env.inputs({**given, "x": inputs[HELD_OUT]}), "trained": trained}
    return env.encode(env.evaluate(predict, names), predict)


def seen(inputs: Mapping[str, Tree]) -> dict[str, Tree]:
    """Return the inputs without the held-out examples."""
    return {name: tree for name, tree in inputs.items() if name != HELD_OUT}
