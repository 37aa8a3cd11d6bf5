"""Whether a lesson's `jax_harness` can serve one module of user code after the other.

Importing it again makes its jitted functions new, and JAX traces and compiles them anew: five times
the time of a check. A harness that holds nothing that could change may stay.
"""

import ast

_TRANSFORMS = ("jax.", "functools.partial", "partial", "functools.wraps")
_CACHES = ("cache", "lru_cache", "cached_property", "singledispatch")


def stateless(source: str) -> bool:
    """Return whether a module consists of imports, functions, transformed functions and constants,
    and none of its functions changes it. In doubt, it does."""
    module = ast.parse(source)
    names = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    defined = names & {
        name
        for statement in module.body
        for name in (
            [statement.name] if isinstance(statement, ast.FunctionDef) else _targets(statement)
        )
    }
    return all(map(_keeps_nothing, module.body)) and not any(
        _changes(node, defined) for node in ast.walk(module)
    )


def _keeps_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.FunctionDef(args=arguments, decorator_list=decorators):
            defaults = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
            return all(map(_is_fixed, defaults)) and all(map(_is_transform, decorators))
        case ast.Assign(targets=[ast.Name() | ast.Tuple()], value=value):
            return bool(_targets(statement)) and _is_fixed(value)
    return False


def _is_fixed(value: ast.expr) -> bool:
    match value:
        case ast.Constant() | ast.Lambda() | ast.Name() | ast.Attribute():
            return ast.unparse(value).rpartition(".")[2] not in _CACHES
        case ast.UnaryOp(operand=inner):
            return _is_fixed(inner)
        case ast.BinOp(left=left, right=right):
            return _is_fixed(left) and _is_fixed(right)
        case ast.Tuple(elts=parts):
            return all(map(_is_fixed, parts))
        case ast.Call():
            return _is_transform(value)
    return False


def _is_transform(value: ast.expr) -> bool:
    """Return whether this is a transformation of JAX, which holds nothing that could change."""
    if isinstance(value, ast.Call):
        parts = [*value.args, *(one.value for one in value.keywords)]
        return _is_transform(value.func) and all(map(_is_fixed, parts))
    # Not a decorator by another name: it may cache.
    return ast.unparse(value).startswith(_TRANSFORMS)


def _targets(statement: ast.stmt) -> list[str]:
    """Return the names that a statement sets; none if it sets anything else."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    parts = [p for t in targets for p in (t.elts if isinstance(t, ast.Tuple) else [t])]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _changes(node: ast.AST, defined: set[str]) -> bool:
    """Return whether a node sets a global name, or a part of what the module defines."""
    if isinstance(node, ast.Global):
        return True
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        root: ast.expr = node
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        return isinstance(root, ast.Name) and root.id in defined
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "globals", "vars")
