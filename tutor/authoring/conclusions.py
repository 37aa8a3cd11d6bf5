"""Expressions that conclude something in the learner's process.

`f(x).std() < 1` looks like a check and is none: a submission may replace `jnp.std`, or return an
object with a `std` and a `__lt__` of its own. An expression should return the numbers themselves,
and leave what follows from them to the main process.
"""

import ast
from collections.abc import Iterable

from tutor.expressions import BUILTINS, JAX_HELPERS

STRUCTURAL = frozenset({"dict", "enumerate", "list", "reversed", "tuple", "zip"})
"""Builtins that put values together and compute nothing from them."""

TRANSFORMATIONS = frozenset(
    {
        *("jit", "vmap", "grad", "value_and_grad", "jacobian", "jacrev", "jacfwd", "hessian"),
        *("vjp", "jvp", "linearize", "checkpoint", "eval_shape", "block_until_ready", "device_get"),
        *("pmap", "shard_map", "tree", "tree_util"),
    }
)
"""What of `jax` calls the learner's function and gives back what it gives, or takes trees apart."""

REDUCTIONS = frozenset(
    {
        *("all", "any", "argmax", "argmin", "item", "max", "mean", "min", "prod", "std", "sum"),
        *("var", "tolist", "is_deleted"),
    }
)
"""Methods of arrays that compute a number from many."""

DESCRIPTIONS = frozenset({"shape", "dtype", "ndim", "size", "sharding", "weak_type"})
"""Attributes that an object may have, whatever it holds."""


def conclusion(expression: str, given: Iterable[str]) -> str:
    """Return what an expression concludes inside, in words; nothing if it returns raw values.

    **Arguments:** `given`: the inputs; what is computed from these alone concludes nothing.
    """
    tree = ast.parse(expression.strip(), mode="eval").body
    return _conclusion(tree, frozenset(given))


def _conclusion(node: ast.expr, given: frozenset[str]) -> str:
    if not _theirs(node, given):
        return ""
    match node:
        case ast.Compare():
            return "a comparison"
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return "a truth value"
        case ast.BinOp(left=left, right=right) if _theirs(left, given) and _theirs(right, given):
            return "one answer computed from two"
        case ast.Call():
            return _of_call(node, given)
        case ast.Attribute(attr=name) if name in DESCRIPTIONS:
            return f"`.{name}`"
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) | ast.SetComp(elt=element):
            return _conclusion(element, given)
        case ast.Lambda(body=body):
            return _conclusion(body, given)
    children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return next((found for child in children if (found := _conclusion(child, given))), "")


def _of_call(node: ast.Call, given: frozenset[str]) -> str:
    match node.func:
        case ast.Name(id=name) if name in STRUCTURAL:
            return next((found for a in node.args if (found := _conclusion(a, given))), "")
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


def _theirs(node: ast.AST, given: frozenset[str]) -> bool:
    """Whether anything in it may come from the learner's code."""
    names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    return any(name not in given | JAX_HELPERS | BUILTINS for name in names)
