"""The losses of a training, and what it returns for the predictions that follow."""

from typing import TYPE_CHECKING, Any

from tutor.checks.inside.watched import watched
from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.calls import Steps
    from tutor.sandbox.learner import LearnerEnvironment
    from tutor.sandbox.reference import ReferenceEnvironment


def observe(env: "LearnerEnvironment", args: dict[str, Any], input_sets: Any) -> "Steps[Tree]":
    expression, predict = args["learns"], args["predict"]
    env.trained.clear()
    with watched(env, args["watch"]):
        result = yield env.evaluate(expression, env.inputs(input_sets[0]))
    losses, *trained = _parts(result, pair=predict is not None)
    encoded = yield env.encode(losses, expression)
    turned = isinstance(encoded, dict)  # parameters: the judge says so
    if not turned:
        env.trained += trained
    return {"losses": encoded}


def refer(env: "ReferenceEnvironment", args: dict[str, Any], input_sets: Any) -> tuple[Tree, float]:
    from tutor.sandbox.calls import perform
    from tutor.sandbox.reference import timed

    expression = args["expression"]
    inputs = [env.inputs(input_sets[0]) for _ in range(2)]
    result, seconds = timed(lambda: perform(env.evaluate(expression, inputs.pop())))
    losses, *_ = _parts(result)
    if isinstance(losses, list | tuple):
        # One array instead of a thousand: recorded answers are part of a pack.
        losses = perform(env.call(expression, _stacked, losses))
    return perform(env.encode(losses, expression)), seconds


def _stacked(losses: Any) -> Any:
    import torch

    return torch.stack([torch.as_tensor(loss) for loss in losses])


def _parts(result: Any, *, pair: bool = False) -> list[Any]:
    """Return the losses, and what follows them in a pair. Two numbers are two losses, unless the
    result has to be a `pair`."""
    pairs = isinstance(result, list | tuple) and len(result) == 2
    return [*result] if pairs and (pair or not _is_number(result[0])) else [result]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or getattr(value, "ndim", None) == 0
