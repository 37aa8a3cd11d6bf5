"""Where the names in a failing statement were set: what to look at if the mistake is not in the
statement itself.

Of several statements that set a name, it is the nearest one above; another may have run. Where it
is not clear which statement that is, or what was passed for a parameter, nothing is shown.
"""

import ast
import builtins
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from tutor.explain.symptom import Symptom
from tutor.foreign.plain_text import one_line
from tutor.foreign.source_lines import source_lines
from tutor.report import Explanation, Origin

MAX_SOURCE = 64_000
"""Characters of a file to parse; no larger file is."""

MAX_NAMES = 4
"""Names of a statement to follow."""

MAX_STEPS = 3
"""Statements to show for each name."""

MAX_SHOWN = 6
"""Statements to show in all."""

MAX_FRAMES = 20
"""Frames to follow arguments through, the innermost ones."""

MAX_CODE = 100
"""Characters of a statement to show."""

_FIT = ("shape", "dtype", "structure", "broadcast", "tree", "carry")
_LIBRARIES_METHODS = frozenset(
    (
        "add", "append", "apply", "astype", "copy", "create", "get", "init", "items", "keys",
        "mean", "pop", "replace", "reshape", "set", "split", "step", "sum", "update", "values",
    )
)  # fmt: skip
"""Methods that objects of libraries have, too, so that `x.update(` need not be the file's."""

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_Scope: TypeAlias = ast.Module | ast.ClassDef | _Function | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)


def worth_showing(explained: Explanation | None, message: str) -> bool:
    """Return whether to show where names were set: if the cause is not sure, or two values do not
    fit each other, it may be there."""
    unsure = explained is None or explained.likely or bool(explained.alternatives)
    return unsure or any(word in message for word in _FIT)


def origins_of(symptom: Symptom) -> tuple[Origin, ...]:
    """Return the statements that set the names in the failing statement, as far as the symptom has
    the files."""
    files: dict[str, _File] = {}
    frames: list[_Frame] = []
    for path, number in reversed(symptom.places[-MAX_FRAMES:]):
        source = symptom.files.get(path, "")
        if path not in files and source and (parsed := _parsed(path, source)) is not None:
            files[path] = parsed
        frame = _frame(files[path], number) if path in files else None
        if frame is None:
            break
        frames.insert(0, frame)
    if not frames:
        return ()
    part = symptom.frames[-1] if symptom.frames else ""
    # One statement may set several names.
    names: dict[tuple[_File, ast.stmt], dict[str, None]] = {}
    for name in _names(frames[-1], part):
        for found, file, statement in _chain(name, frames):
            if statement is not frames[-1].statement:
                names.setdefault((file, statement), {}).setdefault(one_line(found))
    own = frames[-1].file
    return tuple(
        Origin(
            ", ".join(those), statement.lineno, file.code(statement),
            "" if file is own else Path(file.path).name,
        )
        for (file, statement), those in [*names.items()][:MAX_SHOWN]
    )  # fmt: skip


# --- files and frames --------------------------------------------------------------------------


class _File:
    """A parsed file. `bound` are the statements that bind names, by scope and name; `fields` those
    that set attributes of `self`, by class and name; `scopes` the scope of
    each statement, `parents` the one around each scope."""

    def __init__(self, path: str, source: str, module: ast.Module) -> None:
        self.path = path
        self.module = module
        self.lines = source_lines(source)
        self.parents: dict[ast.AST, _Scope] = {}
        self.bound: dict[tuple[ast.AST, str], list[ast.stmt]] = {}
        self.fields: dict[tuple[ast.AST, str], list[ast.stmt]] = {}
        self.scopes: dict[ast.stmt, _Scope] = {}
        self.imported: set[str] = set()
        self._visit(module.body, module)

    def _visit(self, body: Sequence[ast.stmt], scope: _Scope) -> None:
        waiting: list[tuple[ast.AST, _Scope, ast.stmt | None]] = [
            (node, scope, None) for node in reversed(body)
        ]
        while waiting:
            node, scope, statement = waiting.pop()
            if isinstance(node, ast.stmt):
                statement = node
                self.scopes[node] = scope
                self._bind(node, scope)
            elif statement is not None and isinstance(node, ast.NamedExpr | ast.ExceptHandler):
                target = node.target.id if isinstance(node, ast.NamedExpr) else node.name
                if target is not None:
                    self.bound.setdefault((scope, target), []).append(statement)
            inside: _Scope = scope
            if isinstance(node, _SCOPES):
                self.parents[node] = scope
                inside = node
            children = [*ast.iter_child_nodes(node)]
            waiting += [(child, inside, statement) for child in reversed(children)]

    def _bind(self, node: ast.stmt, scope: _Scope) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [(one.asname or one.name).partition(".")[0] for one in node.names]
            self.imported |= {*names}
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
                    if owner is not None and _is_self(one.value):
                        self.fields.setdefault((owner, one.attr), []).append(node)

    def class_of(self, scope: ast.AST) -> ast.ClassDef | None:
        """Return the class whose method a scope is, or is in."""
        while scope in self.parents:
            if isinstance(scope, ast.ClassDef):
                return scope
            scope = self.parents[scope]
        return None

    def function(self, name: str, scope: _Scope) -> _Function | None:
        """Return the function of the file that a name stands for in a scope."""
        found = self._visible(name, scope)
        only = found[0] if found is not None and len(found) == 1 else None
        return only if isinstance(only, ast.FunctionDef | ast.AsyncFunctionDef) else None

    def _visible(self, name: str, scope: _Scope) -> list[ast.stmt] | None:
        at: _Scope | None = scope
        while at is not None:
            if name in _parameters(at):
                return None
            if (at, name) in self.bound and (at is scope or not isinstance(at, ast.ClassDef)):
                return self.bound[at, name]
            at = self.parents.get(at)
        return None

    def methods(self, name: str) -> list[_Function]:
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


class _Frame(Struct, frozen=True, eq=False):
    """A statement that was running, and the function, or the module, that it is in."""

    file: _File
    statement: ast.stmt
    scope: _Scope
    number: int


def _parsed(path: str, source: str) -> _File | None:
    if len(source) > MAX_SOURCE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the code, such as an invalid escape
            return _File(path, source, ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _frame(file: _File, number: int) -> _Frame | None:
    """Return the smallest statement that a line is in."""
    around = [
        (statement, scope)
        for statement, scope in file.scopes.items()
        if statement.lineno <= number <= (statement.end_lineno or statement.lineno)
    ]
    if not around:
        return None
    statement, scope = min(
        around, key=lambda one: (one[0].end_lineno or one[0].lineno) - one[0].lineno
    )
    return _Frame(file, statement, scope, number)


# --- the names of a statement ------------------------------------------------------------------


class _Name(Struct, frozen=True):
    """A name to follow: of a variable; `self.x`, or the result of a function."""

    text: str
    returned: tuple[_Function, ...] = ()


def _returned(*functions: _Function) -> _Name:
    return _Name(f"{functions[0].name} returns", functions)


def _names(frame: _Frame, part: str) -> list[_Name]:
    """Return the names that what failed of a statement uses, those of functions inside last."""
    names: dict[str, _Name] = {}
    later: dict[str, _Name] = {}
    for node in _failed(frame, part):
        binders = _binders(frame.statement, node)
        for one, inner in _loads(node):
            followed = _unbound(one, binders, frame)
            name = _name_of(followed, frame) if followed is not None else None
            if name is not None and name.text not in names:
                (later if inner else names).setdefault(name.text, name)
    return [*names.values(), *(one for text, one in later.items() if text not in names)][:MAX_NAMES]


def _binders(statement: ast.stmt, node: ast.AST) -> list[ast.AST]:
    """Return the lambdas and comprehensions of a statement that an expression is in."""
    return [
        one
        for whole in _own_expressions(statement)
        for one in ast.walk(whole)
        if isinstance(one, (ast.Lambda, *_COMPREHENSIONS)) and any(n is node for n in ast.walk(one))
    ]


def _unbound(node: ast.expr, binders: Sequence[ast.AST], frame: _Frame) -> ast.expr | None:
    """Return an expression, or, if it is a parameter of a lambda, what is passed for that; None if
    that is not known."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    for binder in binders:
        if isinstance(binder, ast.Lambda):
            if isinstance(node, ast.Name) and node.id in _parameters(binder):
                return _mapped(node.id, binder, frame)
            bound = {*_parameters(binder)}
        else:
            bound = _targets(binder)
        if names & bound:
            return None
    return node


def _targets(comprehension: ast.AST) -> set[str]:
    generators = [one for one in ast.walk(comprehension) if isinstance(one, ast.comprehension)]
    return {n.id for one in generators for n in ast.walk(one.target) if isinstance(n, ast.Name)}


def _failed(frame: _Frame, part: str) -> list[ast.AST]:
    """Return the expressions of a statement that failed: those that the text is of, or all."""
    own = _own_expressions(frame.statement)
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


def _own_expressions(statement: ast.stmt) -> list[ast.AST]:
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


def _loads(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the names, the attributes of `self` and the called functions in an expression, in its
    order, and whether they are inside a lambda; without those that it binds itself."""
    lambdas = [one for one in ast.walk(node) if isinstance(one, ast.Lambda)]
    own = _targets(node) | {name for one in lambdas for name in _parameters(one)}
    waiting: list[tuple[ast.AST, bool]] = [(node, False)]
    while waiting:
        one, inner = waiting.pop()
        called = isinstance(one, ast.Call)
        if isinstance(one, ast.Name) and one.id not in own and isinstance(one.ctx, ast.Load):
            yield one, inner
            continue
        if isinstance(one, ast.Attribute) and _is_self(one.value):
            yield one, inner
            continue
        if called:
            yield one, inner  # type: ignore[misc]
        inner = inner or isinstance(one, ast.Lambda)
        children = [*ast.iter_child_nodes(one)]
        if called and isinstance(one.func, ast.Name | ast.Attribute):  # type: ignore[attr-defined]
            children = children[1:]
            base = one.func  # type: ignore[attr-defined]
            if isinstance(base, ast.Attribute) and not _is_self(base.value):
                children.insert(0, base.value)
        waiting += [(child, inner) for child in reversed(children)]


def _name_of(node: ast.expr, frame: _Frame) -> _Name | None:
    """Return what to follow from an expression: a name, what one is part of, or what a function of
    the file returns; None if it is none of these."""
    while isinstance(node, ast.Subscript) or (
        isinstance(node, ast.Attribute) and not _is_self(node.value)
    ):
        node = node.value
    if isinstance(node, ast.Name):
        function = frame.file.function(node.id, frame.scope)
        if function is not None:
            return _returned(function)
        known = node.id in frame.file.imported or hasattr(builtins, node.id)
        return None if known or node.id in ("self", "cls") else _Name(node.id)
    if isinstance(node, ast.Attribute):
        return _Name(f"self.{node.attr}")
    if isinstance(node, ast.Call):
        functions = _called(node.func, frame)
        if functions:
            return _returned(*functions)
    return None


def _called(function: ast.expr, frame: _Frame) -> tuple[_Function, ...]:
    """Return the functions of the file that a call may mean: at most two methods of one name."""
    if isinstance(function, ast.Name):
        found = frame.file.function(function.id, frame.scope)
        return (found,) if found is not None else ()
    if not isinstance(function, ast.Attribute):
        return ()
    methods = frame.file.methods(function.attr)
    if _is_self(function.value):
        owner = frame.file.class_of(frame.scope)
        methods = [one for one in methods if owner is not None and one in owner.body]
    elif function.attr in _LIBRARIES_METHODS or (
        isinstance(function.value, ast.Name) and function.value.id in frame.file.imported
    ):
        return ()
    return tuple(methods) if len(methods) <= 2 else ()


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _parameters(scope: ast.AST) -> list[str]:
    """Return the names of a function's parameters, the positional ones first."""
    if not isinstance(scope, _FUNCTIONS):
        return []
    of = scope.args
    rest = [one for one in (of.vararg, of.kwarg) if one is not None]
    return [one.arg for one in (*of.posonlyargs, *of.args, *of.kwonlyargs, *rest)]


# --- following them ----------------------------------------------------------------------------


def _chain(name: _Name, frames: Sequence[_Frame]) -> Iterator[tuple[str, _File, ast.stmt]]:
    """Yield the statement that sets a name, and those that set what it was made from."""
    at, frame, shown = len(frames) - 1, frames[-1], 0
    while shown < MAX_STEPS:
        if name.returned:
            for one in name.returned:
                if (last := _return_of(one)) is not None:
                    yield name.text, frame.file, last
            return
        set_by = _setting(name.text, frame)
        if set_by is None:
            return
        statement, function = set_by
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and function is None:
            name = _returned(statement)
            continue
        if function is not None:
            at = _caller(function, frames, at)
            passed = _passed(name.text, function, frames[at]) if at >= 0 else None
            if passed is None:
                return
            frame = frames[at]
            statement = frame.statement
            known = _unbound(passed, _binders(statement, passed), frame)
            following = _name_of(known, frame) if known is not None else None
            if following is not None and following.text == name.text:
                continue  # it is passed on under the same name
        else:
            scope = frame.file.scopes[statement]
            frame = _Frame(frame.file, statement, scope, statement.lineno)
            following = _made_from(statement, name.text, frame)
        yield name.text, frame.file, statement
        if following is None:
            return
        name, shown = following, shown + 1


def _caller(function: _Function, frames: Sequence[_Frame], at: int) -> int:
    """Return the frame in which a function was called that runs in a frame at or before another;
    -1 if there is none. The frames of its lambdas count as its own."""
    while at >= 0 and frames[at].scope is not function:
        at -= 1
    at -= 1
    while at >= 0 and frames[at].scope is function and not _calls_in(frames[at], function):
        at -= 1
    return at


def _setting(name: str, frame: _Frame) -> tuple[ast.stmt, _Function | None] | None:
    """Return the statement above a frame's that sets a name; or, beside the frame's own, the
    function whose parameter it is."""
    file, scope = frame.file, frame.scope
    if name.startswith("self."):
        owner = file.class_of(scope)
        several = file.fields.get((owner, name[5:]), []) if owner is not None else []
        before = [one for one in several if one is not frame.statement]
        return (before[0], None) if len(before) == 1 else None
    line = frame.statement.lineno
    here = file.bound.get((scope, name), [])
    above = [one for one in here if one.lineno < line]
    last = max(above, key=lambda one: one.lineno, default=None)
    if last is not None:
        return (last, None) if not isinstance(last, ast.ClassDef) and not _empty(last) else None
    at: _Scope | None = scope
    while at is not None:
        if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef) and name in _parameters(at):
            return frame.statement, at
        if at is not scope and not isinstance(at, ast.ClassDef) and (at, name) in file.bound:
            several = file.bound[at, name]
            return (several[0], None) if len(several) == 1 else None
        at = file.parents.get(at)
    return None


def _empty(statement: ast.stmt) -> bool:
    """Return whether a statement makes an empty list or dict, to be filled by others."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("list", "dict", "set") and not value.args and not value.keywords
    return (isinstance(value, ast.List) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.keys
    )


def _made_from(statement: ast.stmt, name: str, frame: _Frame) -> _Name | None:
    """Return what to follow from a statement that sets a name."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.AugAssign) or not isinstance(value, ast.expr):
        return None
    following = _name_of(value, frame)
    return following if following is None or following.text != name else None


def _calls_in(caller: _Frame, function: _Function) -> list[tuple[ast.Call, int]]:
    """Return the calls of a function in a frame's statement (see `_calls`)."""
    return [
        (call, skipped)
        for whole in _own_expressions(caller.statement)
        for call in ast.walk(whole)
        if isinstance(call, ast.Call)
        for skipped in [_calls(call, function, caller)]
        if skipped is not None
    ]


def _passed(name: str, function: _Function, caller: _Frame) -> ast.expr | None:
    """Return what a statement passes for a parameter; None if it calls the function nowhere, or
    several times, or that is not clear."""
    calls = _calls_in(caller, function)
    if len(calls) > 1:
        line = caller.number
        calls = [one for one in calls if one[0].lineno <= line <= (one[0].end_lineno or line)]
    if len(calls) != 1:
        return None
    call, skipped = calls[0]
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    positional = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if positional[:1] in (["self"], ["cls"]):
        positional = positional[1:]
    if name not in positional:
        return None
    arguments = call.args[skipped:]
    at = positional.index(name)
    if at >= len(arguments) or any(isinstance(one, ast.Starred) for one in arguments[: at + 1]):
        return None
    return arguments[at]


def _calls(call: ast.Call, function: _Function, caller: _Frame) -> int | None:
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
        if function.name == "__call__" and _is_self(called.value):
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
                     "checkpoint", "remat", "shard_map")  # fmt: skip
    first = node.args[0] if node.args else None
    return known and (
        (isinstance(first, ast.Name) and first.id == name) or _transforms(first, name)
    )


def _is_class_of(method: _Function, made: ast.expr, file: _File) -> bool:
    known = file.bound.get((file.module, made.id), []) if isinstance(made, ast.Name) else []
    return any(isinstance(one, ast.ClassDef) and method in one.body for one in known)


def _mapped(name: str, function: ast.Lambda, caller: _Frame) -> ast.expr | None:
    """Return the tree of `tree.map(lambda a, b: …, x, y)` whose leaves a parameter stands for."""
    for whole in _own_expressions(caller.statement):
        for call in ast.walk(whole):
            if isinstance(call, ast.Call) and call.args[:1] == [function]:
                last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
                at = _parameters(function).index(name) + 1
                if last in ("map", "tree_map") and at < len(call.args):
                    return call.args[at]
    return None


def _return_of(function: _Function) -> ast.Return | None:
    """Return the `return` of a value of a function, if it has one, without those of functions
    inside."""
    found: list[ast.Return] = []
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node)
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return found[0] if len(found) == 1 else None
