"""What a lesson's own program gives. It runs before a submission is imported."""

import ast
import contextlib
import io
from typing import Any

import jax

from tutor.sandbox.calls import Steps, UserCodeError
from tutor.sandbox.learner import TRACING_SETTINGS, LearnerEnvironment
from tutor.tree import Tree

FILENAME = "program.py"
MODULE = "program"
MAX_TEXT = 4_000
"""Characters of printed text, and of an exception's message."""


def observe(env: LearnerEnvironment, args: dict[str, Any], input_sets: Any) -> Steps[Tree]:
    printed = io.StringIO()
    # Warnings would look like the learner's.
    with (
        env.apart(MODULE),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        return (yield from _given(env, args, printed))


def _given(env: LearnerEnvironment, args: dict[str, Any], printed: io.StringIO) -> Steps[Tree]:
    gives, asked = args["gives"], args["of"]
    error: BaseException | None = None
    value: Any = None
    try:
        yield from env.load(args["program"], FILENAME)
        if gives == "compiles":
            count = yield from _compiled(env, args["program"], asked)
            return {"compiles": env.encoded(count)}
        if asked:
            value = yield env.evaluate(asked, {})
    except UserCodeError as raised:
        if gives != "error":
            raise
        error = raised.cause
    match gives:
        case "error":
            return {"classes": _classes(error), "message": str(error or "")[:MAX_TEXT]}
        case "prints":
            jax.effects_barrier()  # type: ignore[no-untyped-call]
            return {"printed": printed.getvalue()[:MAX_TEXT]}
        case "choice":
            true: list[Tree] = []
            for index, text in enumerate(args["choices"]):
                if (yield env.evaluate(text, {})):
                    true.append(env.encoded(index))
            return {"true": true}
        case "shape":
            return {"shape": [env.encoded(size) for size in jax.numpy.shape(value)]}
    return {"value": (yield env.encode(value, asked))}


def _classes(error: BaseException | None) -> list[Tree]:
    """Return the names of an exception's class and of those that it is derived from."""
    if error is None:
        return []
    general = (Exception, BaseException, object)
    return [*(kind.__name__[:200] for kind in type(error).__mro__[:40] if kind not in general)]


def _compiled(env: LearnerEnvironment, program: str, expression: str) -> Steps[int]:
    """Return how many times a function of the program is compiled. JAX compiles operations outside
    `jit`, too, one by one, but that is not what is asked."""
    nodes = ast.walk(ast.parse(program))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)} | {"<lambda>"}
    names: list[str] = []
    caches = env.empty_caches()
    with env.our_settings(*TRACING_SETTINGS), caches, env.compiles.programs_in(names):
        yield env.evaluate(expression, {})
    return sum(name in own for name in names)
