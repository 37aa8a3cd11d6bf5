"""What several expressions are, each evaluated on inputs of its own."""

from typing import TYPE_CHECKING, Any

from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.learner import LearnerEnvironment


def observe(env: "LearnerEnvironment", args: dict[str, Any], rounds: Any) -> Tree:
    return [
        env.encode(env.evaluate(expression, env.inputs(rounds[0])), expression)
        for expression in args["expressions"]
    ]
