"""What a call passes for the parameters of a function, as far as the code says so."""

import ast
import re
from collections.abc import Sequence

from tutor.explain.parsed_file import (
    COMPREHENSIONS,
    Frame,
    Function,
    ParsedFile,
    is_self,
    own_expressions,
    parameters,
)


def calls_in(caller: Frame, function: Function) -> list[tuple[ast.Call, int]]:
    """Return the calls of a function in a frame's statement (see `_calls`)."""
    return [
        (call, skipped)
        for whole in own_expressions(caller.statement)
        for call in ast.walk(whole)
        if isinstance(call, ast.Call)
        for skipped in [_calls(call, function, caller)]
        if skipped is not None
    ]


def passed_for(name: str, function: Function, caller: Frame) -> ast.expr | None:
    """Return what a statement passes for a parameter; None if it calls the function nowhere, or
    several times, or that is not clear."""
    calls = calls_in(caller, function)
    if len(calls) > 1:
        line = caller.number
        calls = [one for one in calls if one[0].lineno <= line <= (one[0].end_lineno or line)]
    if not calls:
        return _given(name, function, caller)
    if len(calls) != 1:
        return None
    call, skipped = calls[0]
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    positional = _positional(function)
    if name not in positional:
        return None
    arguments = call.args[skipped:]
    at = positional.index(name)
    if at >= len(arguments) or any(isinstance(one, ast.Starred) for one in arguments[: at + 1]):
        return None
    return arguments[at]


def default_kept(name: str, function: Function, caller: Frame) -> ast.expr | None:
    """Return the default of a parameter for which a statement passes nothing, if it calls the
    function once and that is clear."""
    calls = calls_in(caller, function)
    if len(calls) != 1 or not all(map(_keeps_arguments, function.decorator_list)):
        return None
    call, skipped = calls[0]
    positional = _positional(function)
    several = any(isinstance(one, ast.Starred) for one in call.args)
    keywords = [one.arg for one in call.keywords]
    if several or None in keywords or name in keywords:
        return None
    if name in positional:
        if positional.index(name) < len(call.args) - skipped:
            return None
        at = positional.index(name) - len(positional)
        defaults = function.args.defaults
        return defaults[at] if -at <= len(defaults) else None
    order = [one.arg for one in function.args.kwonlyargs]
    return function.args.kw_defaults[order.index(name)] if name in order else None


_KEEPS_ARGUMENTS = re.compile(
    r"(?:functools\.)?partial\((?:jax\.|nnx\.)?(?:jit|checkpoint|remat)\b|"
    r"(?:\w+\.)?(?:jit|checkpoint|remat|compact|staticmethod|classmethod|cache|lru_cache|"
    r"filter_jit|nowrap|no_grad|inference_mode|abstractmethod|override|wraps)\b"
)
"""Decorators whose result takes and returns what the function does."""
_KEEPS_RESULT = re.compile(
    r"(?:jax\.)?(?:vmap|pmap|custom_vjp|custom_jvp)$|(?:functools\.)?partial\(jax\.(?:vmap|pmap|custom_)|"
    r"property$|(?:functools\.)?cached_property$"
)
"""Those whose result returns what the function does, more or less."""


def _keeps_arguments(mark: ast.expr) -> bool:
    return _KEEPS_ARGUMENTS.match(ast.unparse(mark)) is not None


def keeps_result(mark: ast.expr) -> bool:
    """Return whether a decorator leaves what a function returns as it is."""
    return _keeps_arguments(mark) or _KEEPS_RESULT.match(ast.unparse(mark)) is not None


def is_traced(name: str, function: Function, file: ParsedFile) -> bool:
    """Return whether a function is compiled by `jax.jit` where it is defined, and a parameter of it
    is not static, as far as the code says so."""
    for mark in function.decorator_list:
        call = mark if isinstance(mark, ast.Call) else None
        made = call.func if call is not None else mark
        options = call.keywords if call is not None else []
        if call is not None and ast.unparse(made) in ("partial", "functools.partial") and call.args:
            made = call.args[0]
        spelled = ast.unparse(made)
        if file.imported.get(spelled, spelled) in ("jax.jit", "jit"):
            return not any(_names_parameter(one, name, function) for one in options)
    return False


def _names_parameter(option: ast.keyword, name: str, function: Function) -> bool:
    """Return whether an option of `jit` may say that a parameter is static."""
    if option.arg not in ("static_argnames", "static_argnums"):
        return option.arg is None
    try:
        value = ast.literal_eval(option.value)
    except (ValueError, TypeError, RecursionError):
        return True
    listed = value if isinstance(value, tuple | list) else [value]
    order = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return name in listed or (name in order and order.index(name) in listed)


def _positional(function: Function) -> list[str]:
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


_CALLED_WITH = {
    "scan": (0, (1, 2)), "fori_loop": (2, (None, 3)), "while_loop": (0, (2,)),
    "cond": (1, (3, 4, 5)), "vjp": (0, (1, 2, 3)), "eval_shape": (0, (1, 2, 3)),
    "pure_callback": (0, (2, 3, 4)), "io_callback": (0, (2, 3, 4)),
    "tree_map": (0, (1, 2, 3)), "map": (0, (1, 2, 3)),
}  # fmt: skip
"""Functions that call another one: where they take it, and which of their arguments it gets, or of
which its arguments are slices or leaves. Of `cond` and `while_loop` the next one gets the same."""


def _given(name: str, function: Function, caller: Frame) -> ast.expr | None:
    """Return the argument of `lax.scan(f, init, xs)` and the like from which a parameter of `f`
    comes; None if the statement has no such call, or several."""
    positional = _positional(function)
    found: list[ast.expr] = []
    for whole in own_expressions(caller.statement):
        for call in ast.walk(whole):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            first, order = _CALLED_WITH.get(call.func.attr, (-1, ()))
            places = (first, first + 1) if call.func.attr in ("cond", "while_loop") else (first,)
            at = positional.index(name) if name in positional else len(order)
            wanted = order[at] if at < len(order) else None
            taken = [call.args[one] for one in places if 0 <= one < len(call.args)]
            if (
                wanted is not None
                and any(isinstance(one, ast.Name) and one.id == function.name for one in taken)
                and wanted < len(call.args)
                and not any(isinstance(one, ast.Starred) for one in call.args[: wanted + 1])
            ):
                found.append(call.args[wanted])
    return found[0] if len(found) == 1 else None


def _calls(call: ast.Call, function: Function, caller: Frame) -> int | None:
    """Return how many arguments a call of a function has before the function's own; None if it is
    no call of it. `jax.grad(f)(x)` calls `f`, and so does `g(x)` after `g = jax.grad(f)`."""
    called = call.func
    if isinstance(called, ast.Name):
        if called.id == function.name:
            return 0
        visible = caller.file.bound.get((caller.scope, called.id)) or caller.file.bound.get(
            (caller.file.module, called.id), []
        )
        if len(visible) != 1:
            return None
        only = visible[0]
        if isinstance(only, ast.ClassDef):
            made = function.name == "__init__" and function in only.body
            return 0 if made else None
        value = getattr(only, "value", None)
        if function.name == "__call__" and isinstance(value, ast.Call):
            return 0 if _is_class_of(function, value.func, caller.file) else None
        return 0 if _transforms(value, function.name) else None
    if isinstance(called, ast.Attribute):
        if function.name == "__call__" and called.attr in ("apply", "apply_fn"):
            return 1  # Flax: model.apply(variables, *arguments)
        if function.name == "__call__" and is_self(called.value):
            return 0
        return 0 if called.attr == function.name else None
    if function.name == "__call__" and isinstance(called, ast.Call):
        return 0 if _is_class_of(function, called.func, caller.file) else None
    return 0 if _transforms(called, function.name) else None


def _transforms(node: object, name: str) -> bool:
    """Return whether an expression is like `jax.grad(f)`, which takes the arguments of `f`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
        return False
    last = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    known = last in ("jit", "grad", "value_and_grad", "vmap", "pmap", "jacfwd", "jacrev", "hessian",
                     "checkpoint", "remat", "shard_map", "make_jaxpr")  # fmt: skip
    first = node.args[0] if node.args else None
    return known and (
        (isinstance(first, ast.Name) and first.id == name) or _transforms(first, name)
    )


def _is_class_of(method: Function, made: ast.expr, file: ParsedFile) -> bool:
    known = file.bound.get((file.module, made.id), []) if isinstance(made, ast.Name) else []
    return any(isinstance(one, ast.ClassDef) and method in one.body for one in known)


def _mapped(name: str, function: ast.Lambda, caller: Frame) -> ast.expr | None:
    """Return the tree of `tree.map(lambda a, b: …, x, y)` whose leaves a parameter stands for."""
    for whole in own_expressions(caller.statement):
        for call in ast.walk(whole):
            if isinstance(call, ast.Call) and call.args[:1] == [function]:
                last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
                at = parameters(function).index(name) + 1
                if last in ("map", "tree_map") and at < len(call.args):
                    return call.args[at]
    return None


def binders_of(statement: ast.stmt, node: ast.AST) -> list[ast.AST]:
    """Return the lambdas and comprehensions of a statement that an expression is in."""
    return [
        one
        for whole in own_expressions(statement)
        for one in ast.walk(whole)
        if isinstance(one, (ast.Lambda, *COMPREHENSIONS)) and any(n is node for n in ast.walk(one))
    ]


def unbound(node: ast.expr, binders: Sequence[ast.AST], frame: Frame) -> ast.expr | None:
    """Return an expression, or, if it is a parameter of a lambda, what is passed for that; None if
    that is not known."""
    base: ast.expr = node
    while isinstance(base, ast.Subscript | ast.Attribute):
        base = base.value
    names = {one.id for one in ast.walk(base) if isinstance(one, ast.Name)}
    for binder in binders:
        if isinstance(binder, ast.Lambda):
            if isinstance(base, ast.Name) and base.id in parameters(binder):
                return _mapped(base.id, binder, frame)
            bound = {*parameters(binder)}
        else:
            bound = targets_of(binder)
        if names & bound:
            return None
    return node


def targets_of(comprehension: ast.AST) -> set[str]:
    generators = [one for one in ast.walk(comprehension) if isinstance(one, ast.comprehension)]
    return {n.id for one in generators for n in ast.walk(one.target) if isinstance(n, ast.Name)}
