"""Where the names in a failing statement were set: what to look at if the mistake is not in the
statement itself.

Of several statements that set a name, it is the nearest one above; another may have run. Where it
is not clear which statement that is, or what was passed for a parameter, nothing is shown.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from tutor.explain.arguments import binders_of, calls_in, passed_for, targets_of, unbound
from tutor.explain.parsed_file import (
    SCOPES,
    Frame,
    Function,
    ParsedFile,
    Scope,
    frame_at,
    is_self,
    own_expressions,
    parameters,
    parsed,
)
from tutor.explain.symptom import Symptom
from tutor.foreign.plain_text import one_line
from tutor.report import Explanation, Origin

MAX_NAMES = 4
"""Names of a statement to follow."""

MAX_STEPS = 3
"""Statements to show for each name."""

MAX_SHOWN = 6
"""Statements to show in all."""

MAX_FRAMES = 20
"""Frames to follow arguments through, the innermost ones."""

_FIT = ("shape", "dtype", "structure", "broadcast", "tree", "carry")
_LIBRARIES_METHODS = frozenset(
    (
        "add", "append", "apply", "astype", "copy", "create", "get", "init", "items", "keys",
        "mean", "pop", "replace", "reshape", "set", "split", "step", "sum", "update", "values",
    )
)  # fmt: skip
"""Methods that objects of libraries have, too, so that `x.update(` need not be the file's."""


def worth_showing(explained: Explanation | None, message: str) -> bool:
    """Return whether to show where names were set: if the cause is not sure, or two values do not
    fit each other, it may be there."""
    unsure = explained is None or explained.likely or bool(explained.alternatives)
    return unsure or any(word in message for word in _FIT)


def origins_of(symptom: Symptom) -> tuple[Origin, ...]:
    """Return the statements that set the names in the failing statement, as far as the symptom has
    the files."""
    files: dict[str, ParsedFile] = {}
    frames: list[Frame] = []
    for path, number in reversed(symptom.places[-MAX_FRAMES:]):
        source = symptom.files.get(path, "")
        if path not in files and source and (file := parsed(path, source)) is not None:
            files[path] = file
        frame = frame_at(files[path], number) if path in files else None
        if frame is None:
            break
        frames.insert(0, frame)
    if not frames:
        return ()
    part = symptom.frames[-1] if symptom.frames else ""
    # One statement may set several names.
    names: dict[tuple[ParsedFile, ast.stmt], dict[str, None]] = {}
    for name in _names(frames[-1], part):
        for text, found, statement in _chain(name, frames):
            if statement is not frames[-1].statement:
                names.setdefault((found, statement), {}).setdefault(one_line(text))
    own = frames[-1].file
    return tuple(
        Origin(
            ", ".join(those), statement.lineno, file.code(statement),
            "" if file is own else Path(file.path).name,
        )
        for (file, statement), those in [*names.items()][:MAX_SHOWN]
    )  # fmt: skip


class _Name(Struct, frozen=True):
    """A name to follow: of a variable; `self.x`, or the result of a function."""

    text: str
    returned: tuple[Function, ...] = ()


def _returned(*functions: Function) -> _Name:
    return _Name(f"{functions[0].name} returns", functions)


def _names(frame: Frame, part: str) -> list[_Name]:
    """Return the names that what failed of a statement uses, those of functions inside last."""
    names: dict[str, _Name] = {}
    later: dict[str, _Name] = {}
    for node in _failed(frame, part):
        binders = binders_of(frame.statement, node)
        for one, inner in _loads(node):
            followed = unbound(one, binders, frame)
            name = _name_of(followed, frame) if followed is not None else None
            if name is not None and name.text not in names:
                (later if inner else names).setdefault(name.text, name)
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
        if isinstance(one, ast.Name) and one.id not in own and isinstance(one.ctx, ast.Load):
            yield one, inner
            continue
        if isinstance(one, ast.Attribute) and is_self(one.value):
            yield one, inner
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


def _name_of(node: ast.expr, frame: Frame) -> _Name | None:
    """Return what to follow from an expression: a name, what one is part of, or what a function of
    the file returns; None if it is none of these."""
    while isinstance(node, ast.Subscript) or (
        isinstance(node, ast.Attribute) and not is_self(node.value)
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


def _called(function: ast.expr, frame: Frame) -> tuple[Function, ...]:
    """Return the functions of the file that a call may mean: at most two methods of one name."""
    if isinstance(function, ast.Name):
        found = frame.file.function(function.id, frame.scope)
        return (found,) if found is not None else ()
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
    return tuple(methods) if len(methods) <= 2 else ()


def _chain(name: _Name, frames: Sequence[Frame]) -> Iterator[tuple[str, ParsedFile, ast.stmt]]:
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
            passed = passed_for(name.text, function, frames[at]) if at >= 0 else None
            if passed is None:
                return
            frame = frames[at]
            statement = frame.statement
            known = unbound(passed, binders_of(statement, passed), frame)
            following = _name_of(known, frame) if known is not None else None
            if following is not None and following.text == name.text:
                continue  # it is passed on under the same name
        else:
            scope = frame.file.scopes[statement]
            frame = Frame(frame.file, statement, scope, statement.lineno)
            following = _made_from(statement, name.text, frame)
        yield name.text, frame.file, statement
        if following is None:
            return
        name, shown = following, shown + 1


def _caller(function: Function, frames: Sequence[Frame], at: int) -> int:
    """Return the frame in which a function was called that runs in a frame at or before another;
    -1 if there is none. The frames of its lambdas count as its own."""
    while at >= 0 and frames[at].scope is not function:
        at -= 1
    at -= 1
    while at >= 0 and frames[at].scope is function and not calls_in(frames[at], function):
        at -= 1
    return at


def _setting(name: str, frame: Frame) -> tuple[ast.stmt, Function | None] | None:
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
    at: Scope | None = scope
    while at is not None:
        if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef) and name in parameters(at):
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


def _made_from(statement: ast.stmt, name: str, frame: Frame) -> _Name | None:
    """Return what to follow from a statement that sets a name."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.AugAssign) or not isinstance(value, ast.expr):
        return None
    following = _name_of(value, frame)
    return following if following is None or following.text != name else None


def _return_of(function: Function) -> ast.Return | None:
    """Return the `return` of a value of a function, if it has one, without those of functions
    inside."""
    found: list[ast.Return] = []
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node)
        if not isinstance(node, SCOPES):
            waiting += ast.iter_child_nodes(node)
    return found[0] if len(found) == 1 else None
