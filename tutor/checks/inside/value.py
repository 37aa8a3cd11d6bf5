"""The value of an expression."""

from typing import TYPE_CHECKING, Any

from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.calls import Steps
    from tutor.sandbox.learner import LearnerEnvironment
    from tutor.sandbox.reference import ReferenceEnvironment


def observe(env: "LearnerEnvironment", args: dict[str, Any], input_sets: Any) -> "Steps[Tree]":
    expression = args["expression"]
    return (yield from env.value(expression, env.inputs(input_sets[0])))


def refer(env: "ReferenceEnvironment", args: dict[str, Any], input_sets: Any) -> tuple[Tree, float]:
    from tutor.sandbox.calls import perform
    from tutor.sandbox.reference import timed

    expression = args["expression"]
    inputs = [env.inputs(input_sets[0]) for _ in range(2)]
    steady = args.get("steady", True)
    value, seconds = timed(lambda: perform(env.evaluate(expression, inputs.pop())), steady=steady)
    return perform(env.encode(value, expression)), seconds
