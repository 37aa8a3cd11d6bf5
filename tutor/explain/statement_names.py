"""The names that a statement uses, as far as they can be followed to what set them."""

import ast
import builtins
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from tutor.explain.arguments import binders_of, keeps_result, targets_of, unbound
from tutor.explain.parsed_file import Frame, Function, is_self, own_expressions, parameters
from tutor.explain.set_by import ITERATES, results_of

MAX_NAMES = 4
"""Names of a statement to follow."""

_LIBRARIES_METHODS = frozenset(
    (
        "add", "append", "apply", "astype", "copy", "create", "get", "init", "items", "keys",
        "mean", "pop", "replace", "reshape", "set", "split", "step", "sum", "update", "values",
    )
)  # fmt: skip
"""Methods that objects of libraries have, too, so that `x.update(` need not be the file's."""


class Name(Struct, frozen=True):
    """A name to follow: of a variable; `self.x`, or the result of a function. `attribute` and `key`
    are of what is used of its value: the `width` of `config.width`, the `"w"` of `params["w"]`."""

    text: str
    returned: tuple[Function, ...] = ()
    attribute: str = ""
    key: object = None


def returned(*functions: Function) -> Name:
    first = functions[0]
    yields = any(isinstance(getattr(one, "value", None), ast.Yield) for one in results_of(first))
    name = "iterating" if first.name in ITERATES else first.name
    return Name(f"{name} {'yields' if yields else 'returns'}", functions)


def names_of(frame: Frame, part: str) -> list[Name]:
    """Return the names that what failed of a statement uses, those of functions inside last."""
    names: dict[str, Name] = {}
    later: dict[str, Name] = {}
    for node in _failed(frame, part):
        binders = binders_of(frame.statement, node)
        for one, inner in _loads(node):
            followed = unbound(one, binders, frame)
            name = name_of(followed, frame) if followed is not None else None
            if name is None:
                continue
            where = names if name.text in names or not inner else later
            before = where.setdefault(name.text, name)
            if (before.attribute, before.key) != (name.attribute, name.key):
                where[name.text] = replace(before, attribute="", key=None)  # both are used
    return [*names.values(), *(one for text, one in later.items() if text not in names)][:MAX_NAMES]


def _failed(frame: Frame, part: str) -> list[ast.AST]:
    """Return the expressions of a statement that failed: those that the text is of, or all."""
    own = own_expressions(frame.statement)
    wanted = _normal(part)
    if not wanted:
        return own
    targets = getattr(frame.statement, "targets", [])
    for whole in (*own, *targets):
        for node in ast.walk(whole):
            if isinstance(node, ast.expr) and node.lineno <= frame.number:
                length = (node.end_col_offset or 0) - node.col_offset
                close = node.lineno != node.end_lineno or abs(length - len(part)) < 8
                if close and _normal(ast.unparse(node)) == wanted:
                    return [node]
    return own


def _normal(code: str) -> str:
    return "".join(code.split()).replace('"', "'")


def _loads(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the names, the attributes of `self` and the called functions in an expression, in its
    order, and whether they are inside a lambda; without those that it binds itself."""
    lambdas = [one for one in ast.walk(node) if isinstance(one, ast.Lambda)]
    own = targets_of(node) | {name for one in lambdas for name in parameters(one)}
    waiting: list[tuple[ast.AST, bool]] = [(node, False)]
    while waiting:
        one, inner = waiting.pop()
        base, indices = _base(one)
        named = isinstance(base, ast.Name) and base.id not in own and isinstance(base.ctx, ast.Load)
        if isinstance(base, ast.Attribute) or named:
            yield one, inner  # type: ignore[misc]
            waiting += [(index, inner) for index in reversed(indices)]
            continue
        inner = inner or isinstance(one, ast.Lambda)
        children = [*ast.iter_child_nodes(one)]
        if isinstance(one, ast.Call):
            yield one, inner
            function = one.func
            if isinstance(function, ast.Name | ast.Attribute):
                children = children[1:]
            if isinstance(function, ast.Attribute) and not is_self(function.value):
                children.insert(0, function.value)
        waiting += [(child, inner) for child in reversed(children)]


def _base(node: ast.AST) -> tuple[ast.AST, list[ast.expr]]:
    """Return the name, or the attribute of `self`, of which an expression takes parts, with the
    indices; the expression itself if it does not."""
    indices: list[ast.expr] = []
    while isinstance(node, ast.Subscript) or (
        isinstance(node, ast.Attribute) and not is_self(node.value)
    ):
        if isinstance(node, ast.Subscript):
            indices.insert(0, node.slice)
        node = node.value
    return node, indices


def name_of(node: ast.expr, frame: Frame) -> Name | None:
    """Return what to follow from an expression: a name, what one is part of, or what a function of
    the file returns; None if it is none of these."""
    attribute, key = "", None
    while isinstance(node, ast.Subscript) or (
        isinstance(node, ast.Attribute) and not is_self(node.value)
    ):
        attribute = node.attr if isinstance(node, ast.Attribute) else ""
        constant = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        key = node.slice.value if constant else None  # type: ignore[union-attr]
        node = node.value
    if isinstance(node, ast.Name):
        function = frame.file.function(node.id, frame.scope)
        if function is not None:
            return returned(function) if _returns_itself(function) else None
        known = node.id in frame.file.imported or hasattr(builtins, node.id)
        own = known or node.id in ("self", "cls")
        return None if own else Name(node.id, (), attribute, key)
    if isinstance(node, ast.Attribute):
        return Name(f"self.{node.attr}", (), attribute, key)
    if isinstance(node, ast.Call):
        functions = _called(node.func, frame)
        if functions:
            return returned(*functions)
    return None


def _called(function: ast.expr, frame: Frame) -> tuple[Function, ...]:
    """Return the functions of the file that a call may mean: at most two methods of one name."""
    if isinstance(function, ast.Name):
        found = frame.file.function(function.id, frame.scope)
        return (found,) if found is not None and _returns_itself(found) else ()
    if not isinstance(function, ast.Attribute):
        return ()
    methods = frame.file.methods(function.attr)
    if is_self(function.value):
        owner = frame.file.class_of(frame.scope)
        methods = [one for one in methods if owner is not None and one in owner.body]
    elif function.attr in _LIBRARIES_METHODS or (
        isinstance(function.value, ast.Name) and function.value.id in frame.file.imported
    ):
        return ()
    return tuple(methods) if len(methods) <= 2 and all(map(_returns_itself, methods)) else ()


def _returns_itself(function: Function) -> bool:
    """Return whether a call of a function gives what it returns: it gives a coroutine if that is
    `async`, and a decorator may return anything."""
    decorated = all(map(keeps_result, function.decorator_list))
    return isinstance(function, ast.FunctionDef) and decorated
