"""Results for several keys, and how the expression used its key."""

from typing import Any

import jax
import numpy as np

from tutor.sandbox.calls import Steps, UserCodeError
from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Leaf, Tree, leaves, map_leaves


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    expression, name = args["expression"], args["key"]
    first = input_sets[0]
    keys = [{name: one[name]} for one in input_sets]

    observation: dict[str, Tree] = {
        "first": (yield from env.value(expression, env.inputs(first))),
        "again": (yield from env.value(expression, env.inputs(first))),
    }
    other, *others = [{**first, **key} for key in keys[1:]]
    following = {**first, name: _next(first[name])}
    observation["other"] = yield from env.value(expression, env.inputs(other))
    observation["next"] = yield from env.value(expression, env.inputs(following))
    observation["others"] = trees = []
    for tree in others:
        trees += [(yield from env.value(expression, env.inputs(tree)))]
    recorded, uses = yield from _recorded(env, expression, first)
    # This release of JAX shows keys, and the lesson's own functions do not hide them.
    shown = "yes" if env.keys.works and "disable_jit" not in env.harness_source else None
    observation |= {"recorded": recorded, "uses": uses, "shown": shown}
    if recorded is None:
        observation["checker"] = yield from _checker(env, expression, first)
    if any_same(observation["first"], observation["other"]):
        _, observation["other uses"] = yield from _recorded(env, expression, {**first, **keys[1]})
    return observation


def _recorded(
    env: LearnerEnvironment, expression: str, tree: dict[str, Tree]
) -> Steps[tuple[Tree, Tree]]:
    """Return what the expression gave while its keys were recorded, in a list, and the keys. None
    if it cannot run without `jit`, or takes too long, or this release of JAX does not show what is
    needed."""
    inputs, value = env.inputs(tree), None
    works = env.keys.works
    try:
        with env.keys.recording(env.filename) as record:
            result = (yield env.evaluate(expression, inputs)) if works else None
        # Not above: encoding restores settings, and `jit` would stay off.
        value = [(yield env.encode(result, expression))] if works else None
    except UserCodeError:
        pass
    return (None if record.full else value), record.leaf()


def any_same(one: Tree, other: Tree) -> bool:
    """Return whether any array that is not constant is the same in both."""
    arrays = zip(leaves(one), leaves(other), strict=False)
    return any(
        np.array_equal(a.array, b.array)
        and a.values.size > 1
        and (a.values != a.values.flat[0]).any()
        for (_, a), (_, b) in arrays
        if a.array is not None and b.array is not None
    )


def _next(key: Tree) -> Tree:
    """Return the keys that the next seeds give."""

    def after(leaf: Leaf) -> Leaf:
        return Leaf(leaf.values + np.array([0, 1], leaf.values.dtype), leaf.type)

    return map_leaves(after, key)


def _checker(env: LearnerEnvironment, expression: str, inputs: dict[str, Tree]) -> Steps[str]:
    """Return the error of `jax.debug_key_reuse`, if any. It checks typed keys only."""
    values = env.inputs(inputs)
    try:
        with jax.debug_key_reuse(True):
            yield env.evaluate(expression, values)
    except UserCodeError as error:
        if isinstance(error.cause, jax.errors.KeyReuseError):
            return str(error.cause).partition("\n")[0]
    return ""
