"""The exception that an expression raises."""

from typing import Any

from tutor.sandbox.calls import Steps, UserCodeError
from tutor.sandbox.environment import raised
from tutor.sandbox.learner import LearnerEnvironment
from tutor.tree import Tree


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    expression = args["expression"]
    try:
        value = yield env.evaluate(expression, env.inputs(input_sets[0]))
    except UserCodeError as error:
        # A missing function or an unfinished one refuses nothing.
        found = raised("", error, env.filename, env.source)
        if found.code not in ("exception", "unusable-result"):
            raise
        modules = [(kind.__module__, kind.__qualname__) for kind in type(error.cause).__mro__[:-1]]
        classes = [f"{module}.{name}".removeprefix("builtins.")[:200] for module, name in modules]
        return {"classes": [*classes[:40]], "message": found.message}
    return {"returned": (yield env.encode(value, expression))}
