"""Parsed files of a learner: their scopes, what binds names in them, and statements by line."""

import ast
import warnings
from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from tutor.foreign.plain_text import one_line
from tutor.foreign.source_lines import source_lines

MAX_SOURCE = 64_000
"""Characters of a file to parse; no larger file is."""

MAX_CODE = 100
"""Characters of a statement to show."""

_FILL = ("append", "extend", "insert", "setdefault")
"""Methods that put something into a list or a dict, if their result is dropped."""

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Scope: TypeAlias = ast.Module | ast.ClassDef | Function | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, ast.ClassDef)


class ParsedFile:
    """A parsed file. `bound` are the statements that bind names, by scope and name; `fields` those
    that set attributes of `self`, by class and name; `filled` those that put something into what a
    name or such an attribute stands for, with the key, if it is a constant; `scopes` the scope of
    each statement, `parents` the one around each scope, `imported` the full names of imports."""

    def __init__(self, path: str, source: str, module: ast.Module) -> None:
        self.path = path
        self.module = module
        self.lines = source_lines(source)
        self.parents: dict[ast.AST, Scope] = {}
        self.bound: dict[tuple[ast.AST, str], list[ast.stmt]] = {}
        self.fields: dict[tuple[ast.AST, str], list[ast.stmt]] = {}
        self.filled: dict[tuple[ast.AST, str], list[tuple[ast.stmt, object]]] = {}
        self.scopes: dict[ast.stmt, Scope] = {}
        self.imported: dict[str, str] = {}
        self._visit(module.body, module)

    def _visit(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        waiting: list[tuple[ast.AST, Scope, ast.stmt | None]] = [
            (node, scope, None) for node in reversed(body)
        ]
        while waiting:
            node, scope, statement = waiting.pop()
            if isinstance(node, ast.stmt):
                statement = node
                self.scopes[node] = scope
                self._bind(node, scope)
                self._fill(node, scope)
            elif statement is not None and isinstance(node, ast.NamedExpr | ast.ExceptHandler):
                target = node.target.id if isinstance(node, ast.NamedExpr) else node.name
                if target is not None:
                    self.bound.setdefault((scope, target), []).append(statement)
            inside: Scope = scope
            if isinstance(node, SCOPES):
                self.parents[node] = scope
                inside = node
            children = [*ast.iter_child_nodes(node)]
            waiting += [(child, inside, statement) for child in reversed(children)]

    def _bind(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node)
            return
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
            targets = [node.target]
        elif isinstance(node, ast.With | ast.AsyncWith):
            targets = [one.optional_vars for one in node.items if one.optional_vars is not None]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.bound.setdefault((scope, node.name), []).append(node)
        for target in targets:
            for one in ast.walk(target):
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                    self.bound.setdefault((scope, one.id), []).append(node)
                elif isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store):
                    owner = self.class_of(scope)
                    if owner is not None and is_self(one.value):
                        self.fields.setdefault((owner, one.attr), []).append(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        start = ""
        if isinstance(node, ast.ImportFrom):
            start = f"{'.' * node.level}{node.module or ''}."
        for one in node.names:
            name = one.asname or (one.name if start else one.name.partition(".")[0])
            self.imported[name] = f"{start}{one.name if start or one.asname else name}"

    def _fill(self, node: ast.stmt, scope: Scope) -> None:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign):
            targets = [node.target]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Attribute) and called.attr in _FILL:
                self._filled(called.value, node, scope)
        for target in targets:
            if isinstance(target, ast.Subscript):
                self._filled(target, node, scope)

    def _filled(self, target: ast.expr, node: ast.stmt, scope: Scope) -> None:
        key: object = None
        while isinstance(target, ast.Subscript):
            key = target.slice.value if isinstance(target.slice, ast.Constant) else None
            target = target.value
        if isinstance(target, ast.Name):
            self.filled.setdefault((scope, target.id), []).append((node, key))
        owner = self.class_of(scope)
        if isinstance(target, ast.Attribute) and is_self(target.value) and owner is not None:
            self.filled.setdefault((owner, target.attr), []).append((node, key))

    def class_of(self, scope: ast.AST) -> ast.ClassDef | None:
        """Return the class whose method a scope is, or is in."""
        while scope in self.parents:
            if isinstance(scope, ast.ClassDef):
                return scope
            scope = self.parents[scope]
        return None

    def function(self, name: str, scope: Scope) -> Function | None:
        """Return the function of the file that a name stands for in a scope."""
        found = self._visible(name, scope)
        only = found[0] if found is not None and len(found) == 1 else None
        return only if isinstance(only, ast.FunctionDef | ast.AsyncFunctionDef) else None

    def class_named(self, name: str, scope: Scope) -> ast.ClassDef | None:
        """Return the class of the file that a name stands for in a scope."""
        found = self._visible(name, scope)
        only = found[0] if found is not None and len(found) == 1 else None
        return only if isinstance(only, ast.ClassDef) else None

    def _visible(self, name: str, scope: Scope) -> list[ast.stmt] | None:
        at: Scope | None = scope
        while at is not None:
            if name in parameters(at):
                return None
            if (at, name) in self.bound and (at is scope or not isinstance(at, ast.ClassDef)):
                return self.bound[at, name]
            at = self.parents.get(at)
        return None

    def methods(self, name: str) -> list[Function]:
        """Return the methods of this name of all classes of the file."""
        return [
            one
            for (scope, known), each in self.bound.items()
            if known == name and isinstance(scope, ast.ClassDef)
            for one in each
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        ]

    def code(self, statement: ast.stmt) -> str:
        """Return a statement on one line; of one with a body, its first line."""
        body = getattr(statement, "body", None)
        end = statement.end_lineno or statement.lineno
        if body:
            end = max(statement.lineno, min(end, body[0].lineno - 1))
        text = " ".join(line.strip() for line in self.lines[statement.lineno - 1 : end])
        text = one_line(text)
        return text if len(text) <= MAX_CODE else f"{text[: MAX_CODE - 1]}…"


class Frame(Struct, frozen=True, eq=False):
    """A statement that was running, and the function, or the module, that it is in."""

    file: ParsedFile
    statement: ast.stmt
    scope: Scope
    number: int


def parsed(path: str, source: str) -> ParsedFile | None:
    if len(source) > MAX_SOURCE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the code, such as an invalid escape
            return ParsedFile(path, source, ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def frame_at(file: ParsedFile, number: int) -> Frame | None:
    """Return the smallest statement that a line is in, of those of one size the inner one."""
    around = [
        (statement, scope)
        for statement, scope in file.scopes.items()
        if statement.lineno <= number <= (statement.end_lineno or statement.lineno)
    ]
    if not around:
        return None
    statement, scope = min(
        reversed(around), key=lambda one: (one[0].end_lineno or one[0].lineno) - one[0].lineno
    )
    return Frame(file, statement, scope, number)


def own_expressions(statement: ast.stmt) -> list[ast.AST]:
    """Return the expressions of a statement, without those of its body and without targets."""
    read: list[ast.AST] = []
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        target = statement.target
        read = [ast.copy_location(ast.Name(target.id, ast.Load()), target)]
    return read + [
        node
        for name, value in ast.iter_fields(statement)
        if name not in ("body", "orelse", "finalbody", "handlers", "targets", "target")
        for node in (value if isinstance(value, list) else [value])
        if isinstance(node, ast.expr | ast.withitem)
    ]


def is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def parameters(scope: ast.AST) -> list[str]:
    """Return the names of a function's parameters, the positional ones first."""
    if not isinstance(scope, FUNCTIONS):
        return []
    of = scope.args
    rest = [one for one in (of.vararg, of.kwarg) if one is not None]
    return [one.arg for one in (*of.posonlyargs, *of.args, *of.kwonlyargs, *rest)]
