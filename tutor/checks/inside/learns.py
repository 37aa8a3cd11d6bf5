"""The losses of a training, and predictions by what it returns."""

from typing import TYPE_CHECKING, Any

from tutor.checks.inside.held_out import predictions, seen
from tutor.checks.inside.watched import watched
from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.learner import LearnerEnvironment
    from tutor.sandbox.reference import ReferenceEnvironment


def observe(env: "LearnerEnvironment", args: dict[str, Any], input_sets: Any) -> Tree:
    expression, predict = args["learns"], args["predict"]
    inputs = input_sets[0]
    with watched(env, args["watch"]):
        result = env.evaluate(expression, env.inputs(seen(inputs)))
    losses, *trained = _parts(result, pair=predict is not None)
    observation: dict[str, Tree] = {"losses": env.encode(losses, expression)}
    turned = isinstance(observation["losses"], dict)  # parameters: the judge says so
    if predict is not None and trained and not turned:
        observation["predictions"] = predictions(env, predict, inputs, trained[0])
    return observation


def refer(env: "ReferenceEnvironment", args: dict[str, Any], input_sets: Any) -> tuple[Tree, float]:
    import torch

    from tutor.sandbox.environment import user_code
    from tutor.sandbox.reference import timed

    expression = args["expression"]
    inputs = [env.inputs(seen(input_sets[0])) for _ in range(2)]
    result, seconds = timed(lambda: env.evaluate(expression, inputs.pop()))
    losses, *_ = _parts(result)
    if isinstance(losses, list | tuple):
        # One array instead of a thousand: recorded answers are part of a pack.
        with user_code(expression):
            losses = torch.stack([torch.as_tensor(loss) for loss in losses])
    return env.encode(losses, expression), seconds


def _parts(result: Any, *, pair: bool = False) -> list[Any]:
    """Return the losses, and what follows them in a pair. Two numbers are two losses, unless the
    result has to be a `pair`."""
    pairs = isinstance(result, list | tuple) and len(result) == 2
    return [*result] if pairs and (pair or not _is_number(result[0])) else [result]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or getattr(value, "ndim", None) == 0
