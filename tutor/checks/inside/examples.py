"""What the examples of a lesson's text give. PyTorch and JAX are both there: texts compare them."""

import ast
import contextlib
import io
import sys
import types
import warnings
from typing import TYPE_CHECKING, Any

from tutor.tree import Tree

if TYPE_CHECKING:
    from tutor.sandbox.reference import ReferenceEnvironment

MAX_TEXT = 4_000
"""Characters of what a statement prints, gives or raises."""

_MODULE = "example"


def refer(env: "ReferenceEnvironment", args: dict[str, Any], input_sets: Any) -> tuple[Tree, float]:
    """Run the top-level statements of `args["blocks"]`, all in one module. A statement that raises
    does not stop those after it."""
    import jax
    import jax.numpy as jnp

    module = types.ModuleType(_MODULE)
    module.__dict__.update(env.helpers, jax=jax, jnp=jnp)
    sys.modules[_MODULE] = module  # dataclasses look it up
    try:
        seen: Tree = [[*_statements(block, module)] for block in args["blocks"]]
    finally:
        del sys.modules[_MODULE]
    return seen, 0.0


def _statements(block: str, module: types.ModuleType) -> "list[Tree]":
    return [_run(statement, module) for statement in ast.parse(block).body]


def _run(statement: ast.stmt, module: types.ModuleType) -> Tree:
    """Return what a statement printed, gave, warned of and raised; empty texts for nothing."""
    import jax

    printed = io.StringIO()
    value: Any = None
    raised = ""
    shown = {"value": "", "repr": ""}
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        try:
            if isinstance(statement, ast.Expr):
                code = compile(ast.Expression(statement.value), _MODULE, "eval")
                value = eval(code, module.__dict__)  # noqa: S307 - in the sandbox
                if value is not None:
                    shown = {"value": str(value)[:MAX_TEXT], "repr": repr(value)[:MAX_TEXT]}
            else:
                code = compile(ast.Module([statement], []), _MODULE, "exec")
                exec(code, module.__dict__)  # noqa: S102 - in the sandbox
            jax.effects_barrier()  # type: ignore[no-untyped-call]
        except Exception as error:  # noqa: BLE001 - texts show exceptions
            raised = f"{type(error).__name__}: {error}"[:MAX_TEXT]
    return {
        **shown,
        "printed": printed.getvalue()[:MAX_TEXT],
        "raised": raised,
        "warned": [f"{one.category.__name__}: {one.message}"[:MAX_TEXT] for one in warned[:20]],
    }
