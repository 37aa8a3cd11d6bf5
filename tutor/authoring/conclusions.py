"""Find expressions that judge values in the learner's process, where a submission can fake them.

`f(x).std() < 1` proves nothing: a submission may replace `jnp.std`, or return an object with its
own `std` and `__lt__`. An expression should return the numbers for the main process to judge.
"""

import ast
from collections.abc import Iterable

from tutor.expressions import BUILTINS, JAX_HELPERS

STRUCTURAL = frozenset({"dict", "enumerate", "list", "reversed", "tuple", "zip"})
"""Builtins that arrange values and compute nothing."""

TRANSFORMATIONS = frozenset(
    {
        *("jit", "vmap", "grad", "value_and_grad", "jacobian", "jacrev", "jacfwd", "hessian"),
        *("vjp", "jvp", "linearize", "checkpoint", "eval_shape", "block_until_ready", "device_get"),
        *("pmap", "shard_map", "tree", "tree_util"),
    }
)
"""Names in `jax` that return what the learner's function returns, or take trees apart."""

REDUCTIONS = frozenset(
    {
        *("all", "any", "argmax", "argmin", "item", "max", "mean", "min", "prod", "std", "sum"),
        *("var", "tolist", "is_deleted"),
    }
)
"""Methods of arrays that reduce them."""

DESCRIPTIONS = frozenset({"shape", "dtype", "ndim", "size", "sharding", "weak_type"})
"""Attributes that an object can have whatever its values are."""


def conclusion(expression: str, given: Iterable[str]) -> str:
    """Describe what an expression computes inside instead of returning it; empty if nothing.

    **Arguments:** `given`: the inputs; anything may be computed from these alone.
    """
    tree = ast.parse(expression.strip(), mode="eval").body
    return _conclusion(tree, frozenset(given))


def _conclusion(node: ast.expr, given: frozenset[str]) -> str:
    if not _uses_submission(node, given):
        return ""
    match node:
        case ast.Compare():
            return "a comparison"
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return "a truth value"
        case ast.BinOp(left=left, right=right) if _uses_submission(
            left, given
        ) and _uses_submission(right, given):
            return "a value computed from two answers"
        case ast.Call():
            return _of_call(node, given)
        case ast.Attribute(attr=name) if name in DESCRIPTIONS:
            return f"`.{name}`"
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) | ast.SetComp(elt=element):
            return _conclusion(element, given)
        case ast.Lambda(body=body):
            return _conclusion(body, given)
    children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return next(filter(None, (_conclusion(child, given) for child in children)), "")


def _of_call(node: ast.Call, given: frozenset[str]) -> str:
    match node.func:
        case ast.Name(id=name) if name in STRUCTURAL:
            return next(filter(None, (_conclusion(one, given) for one in node.args)), "")
        case ast.Name(id=name) if name in BUILTINS:
            return f"the builtin `{name}`"
        case ast.Lambda():
            parts = (_conclusion(part, given) for part in (node.func, *node.args))
            return next(filter(None, parts), "")
        case ast.Attribute(attr=name):
            path = ast.unparse(node.func)
            root, _, rest = path.partition(".")
            if root in ("jnp", "np"):
                return f"`{path}`"
            if root == "jax" and rest.partition(".")[0] not in TRANSFORMATIONS:
                return f"`{path}`"
            if root != "jax" and name in REDUCTIONS:
                return f"`.{name}()`"
    return ""


def _uses_submission(node: ast.AST, given: frozenset[str]) -> bool:
    """Return whether any part may come from the learner's code."""
    names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    return any(name not in given | JAX_HELPERS | BUILTINS for name in names)
