"""Where values flow in a function: which of its names may hold something of the learner's.

The order of statements is ignored, and nested functions share the names of the one around them:
good enough for remarks.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def imports(module: ast.Module) -> dict[str, str]:
    """Return the names that a module imports, each with the dotted name that it stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for one in node.names:
                first = one.name.partition(".")[0]
                found[one.asname or first] = one.name if one.asname else first
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                found[one.asname or one.name] = f"{node.module or ''}.{one.name}"
    return found


def local_functions(scope: ast.Module | FunctionNode) -> dict[str, FunctionNode]:
    """Return the functions that the statements of a module or function define."""
    found: dict[str, FunctionNode] = {}
    for node in ast.walk(scope):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node is not scope:
                found.setdefault(node.name, node)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
                found.setdefault(name, function)
    return found


def parameters(function: FunctionNode) -> list[str]:
    """Return the names of a function's parameters, without `*args` and `**kwargs`."""
    every = function.args
    return [one.arg for one in (*every.posonlyargs, *every.args, *every.kwonlyargs)]


def results(function: FunctionNode) -> list[ast.expr]:
    """Return the expressions that a function returns or yields."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    found: list[ast.expr] = []
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.value is not None:
            found.append(node.value)
        pending += ast.iter_child_nodes(node)
    return found


class Values:
    """The names in a function that may hold something of the learner's (`theirs`), and those that
    hold a conclusion, each described (`found`). It begins with those of its parameters."""

    def __init__(self, function: FunctionNode, theirs: set[str], found: dict[str, str]) -> None:
        self.theirs = theirs
        self.found = found
        self._flows = [flow for node in ast.walk(function) for flow in _flows(node)]
        targets = {name for names, _, _ in self._flows for name in names}
        bound = {*targets, *parameters(function)}
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=args) if (
                    name in bound  # such as out.append(x)
                ):
                    self._flows += [([name], value, True) for value in args]
        # What nested functions are called with is unknown.
        nested = [
            n for n in ast.walk(function) if isinstance(n, FunctionNode) and n is not function
        ]
        self.theirs |= {name for one in nested for name in parameters(one)} - bound
        for one in nested:
            shared = {
                name
                for node in ast.walk(one)
                if isinstance(node, ast.Nonlocal | ast.Global)
                for name in node.names
            }
            counted = (
                node.target.id
                for node in ast.walk(one)
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
            )
            for name in shared.intersection(counted):
                self.theirs.add(name)
                self.found.setdefault(name, "a count")

    def spread(
        self,
        uses_submission: Callable[[ast.AST], bool],
        conclusion: Callable[[list[str], ast.expr], str],
    ) -> bool:
        """Follow every assignment once.

        **Arguments:** `conclusion` describes what an assignment to these names concludes.

        **Returns:** whether anything was new.
        """
        before = len(self.theirs), len(self.found)
        for names, value, whole in self._flows:
            if uses_submission(value):
                self.theirs.update(names)
                if whole and (about := conclusion(names, value)):
                    for name in names:
                        self.found.setdefault(name, about)
        return before != (len(self.theirs), len(self.found))


_Flow: TypeAlias = tuple[list[str], ast.expr, bool]
"""Names, the value that they get, and whether it is the value itself, not one of its items."""


def _flows(node: ast.AST) -> Iterator[_Flow]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _assigned(target, value)
        case ast.NamedExpr(target=target, value=value):
            yield from _assigned(target, value)
        case ast.AugAssign(target=target, value=value):
            yield from _assigned(target, value)
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield _names(target), value, False
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield _names(target), value, False
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            for value in _uses(node.body):
                yield [name], value, False


def _uses(body: Iterable[ast.stmt]) -> Iterator[ast.expr]:
    return (n for one in body for n in ast.walk(one) if isinstance(n, ast.Name))


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[_Flow]:
    match target, value:
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values) and not any(
            isinstance(one, ast.Starred) for one in (*names, *values)
        ):
            for one, item in zip(names, values, strict=True):
                yield from _assigned(one, item)
        case _:
            yield _names(target), value, True


def _names(target: ast.expr) -> list[str]:
    """Return the names that an assignment changes: `out` in `out[0] = x`, too."""
    match target:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
            return _names(inner)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return [name for item in items for name in _names(item)]
    return []
