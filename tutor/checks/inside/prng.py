"""Results for several keys, and how the expression used its key."""

from typing import Any

import jax
import numpy as np

from tutor.checks.inside.ledger import drawn_in_both, keys_used, reused
from tutor.sandbox.environment import UserCodeError
from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Leaf, Tree, leaves, map_leaves


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Tree:
    expression, name = args["expression"], args["key"]
    keys = [{name: one[name]} for one in input_sets]

    def result(tree: dict[str, Tree]) -> Tree:
        return env.encode(env.evaluate(expression, env.inputs(tree)), expression)

    observation: dict[str, Tree] = {
        "first": result(input_sets[0]),
        "again": result(input_sets[0]),
        "other": result({**input_sets[0], **keys[1]}),
        "others": [result({**input_sets[0], **key}) for key in keys[2:]],
        "next": result({**input_sets[0], name: _next(input_sets[0][name])}),
    }
    ledger, complete = keys_used(env, expression, input_sets[0])
    observation["checker"] = "" if complete else _checker(env, expression, input_sets[0])
    observation["reuse"] = [*reused(ledger)]
    given = {tuple(row) for row in _rows(input_sets[0][name])}
    observation["used"] = "yes" if given & ledger.uses.keys() or not complete else None
    observation["constant"] = []
    if any_same(observation["first"], observation["other"]):
        with_other_key, _ = keys_used(env, expression, {**input_sets[0], **keys[1]})
        observation["constant"] = [*drawn_in_both(ledger, with_other_key)]
    return observation


def _next(key: Tree) -> Tree:
    """Return the keys that the next seeds give."""

    def after(leaf: Leaf) -> Leaf:
        return Leaf(leaf.values + np.array([0, 1], leaf.values.dtype), leaf.type)

    return map_leaves(after, key)


def _rows(key: Tree) -> list[list[int]]:
    """Return the raw data of every key in an input."""
    return [
        row
        for _, leaf in leaves(key)
        for row in leaf.values.reshape(-1, leaf.values.shape[-1]).tolist()
    ]


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


def _checker(env: LearnerEnvironment, expression: str, inputs: dict[str, Tree]) -> str:
    """Return the error of `jax.debug_key_reuse`, if any. It checks typed keys only."""
    values = env.inputs(inputs)
    try:
        with jax.debug_key_reuse(True):
            env.evaluate(expression, values)
    except UserCodeError as error:
        if isinstance(error.cause, jax.errors.KeyReuseError):
            return str(error.cause).partition("\n")[0]
    return ""
