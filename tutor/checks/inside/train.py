"""Train, then predict for inputs whose labels are not in this process."""

from typing import TYPE_CHECKING, Any

from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.learner import LearnerEnvironment


def observe(env: "LearnerEnvironment", args: dict[str, Any], input_sets: Any) -> Tree:
    inputs = dict(input_sets[0])
    held_out = inputs.pop("held out")
    trained = env.evaluate(args["train"], env.inputs(inputs))
    del inputs["y"]
    names = {**env.inputs({**inputs, "x": held_out}), "trained": trained}
    return env.encode(env.evaluate(args["predict"], names), args["predict"])
