"""Where the names in a failing statement were set: what to look at if the mistake is not in the
statement itself.

Of several statements that set a name, it is the nearest one above; another may have run. Where it
is not clear which statement that is, or what was passed for a parameter, nothing is shown. What
puts something into a list, a dict or an object counts, too.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tutor.explain.arguments import binders_of, calls_in, passed_for, targets_of, unbound
from tutor.explain.parsed_file import (
    Frame,
    Function,
    ParsedFile,
    frame_at,
    is_self,
    own_expressions,
    parameters,
    parsed,
)
from tutor.explain.set_by import (
    ITERATES,
    fillings,
    instances,
    is_empty,
    iterates,
    of_a_turn,
    results_of,
    setting,
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
    """A name to follow: of a variable; `self.x`, or the result of a function. `attribute` and `key`
    are of what is used of its value: the `width` of `config.width`, the `"w"` of `params["w"]`."""

    text: str
    returned: tuple[Function, ...] = ()
    attribute: str = ""
    key: object = None


def _returned(*functions: Function) -> _Name:
    first = functions[0]
    yields = any(isinstance(getattr(one, "value", None), ast.Yield) for one in results_of(first))
    name = "iterating" if first.name in ITERATES else first.name
    return _Name(f"{name} {'yields' if yields else 'returns'}", functions)


def _names(frame: Frame, part: str) -> list[_Name]:
    """Return the names that what failed of a statement uses, those of functions inside last."""
    names: dict[str, _Name] = {}
    later: dict[str, _Name] = {}
    for node in _failed(frame, part):
        binders = binders_of(frame.statement, node)
        for one, inner in _loads(node):
            followed = unbound(one, binders, frame)
            name = _name_of(followed, frame) if followed is not None else None
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


def _name_of(node: ast.expr, frame: Frame) -> _Name | None:
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
            return _returned(function)
        known = node.id in frame.file.imported or hasattr(builtins, node.id)
        own = known or node.id in ("self", "cls")
        return None if own else _Name(node.id, (), attribute, key)
    if isinstance(node, ast.Attribute):
        return _Name(f"self.{node.attr}", (), attribute, key)
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
    for _ in range(MAX_FRAMES):  # names may go round in a circle
        found: tuple[ast.stmt, ...] | Function
        if name.returned:
            found = tuple(one for function in name.returned for one in results_of(function))
        else:
            found = setting(name.text, frame)
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
            label, passed, at, frame = _passed(name.text, found, frame, frames, at)
            if passed is None:
                return
            statement = frame.statement
            known = unbound(passed, binders_of(statement, passed), frame)
            following = _name_of(known, frame) if known is not None else None
            following = _going_on(name, following)
            if following is not None and following.text == name.text:
                name = following
                continue  # it is passed on under the same name
            yield label, frame.file, statement
        else:
            if len(found) == 1 and isinstance(found[0], ast.FunctionDef | ast.AsyncFunctionDef):
                name = _returned(found[0])
                continue
            inside = fillings(name.text, name.key, found[0], frame) if found else ()
            for statement in found:
                if not (inside and is_empty(statement)):
                    yield name.text, frame.file, statement
            for statement in inside:
                yield name.text, frame.file, statement
            if len(found) != 1 or isinstance(found[0], ast.ClassDef):
                return
            statement = found[0]
            scope = frame.file.scopes[statement]
            frame = Frame(frame.file, statement, scope, statement.lineno)
            for one in _declared(name, frame):
                yield name.attribute, frame.file, one
            following = _going_on(name, _made_from(statement, name.text, frame))
        shown += 1
        if following is None or shown >= MAX_STEPS:
            return
        name = following


def _going_on(name: _Name, following: _Name | None) -> _Name | None:
    """Return what to follow, with what is used of it if that is not said anew."""
    if following is None or following.returned or following.attribute or following.key is not None:
        return following
    return replace(following, attribute=name.attribute, key=name.key)


def _declared(name: _Name, frame: Frame) -> tuple[ast.stmt, ...]:
    """Return where a class sets the attribute that is used, if the statement makes an instance of
    a class of the file without passing it."""
    value = getattr(frame.statement, "value", None)
    if (
        not name.attribute
        or not isinstance(value, ast.Call)
        or not isinstance(value.func, ast.Name)
    ):
        return ()
    owner = frame.file.class_named(value.func.id, frame.scope)
    if owner is None or any(one.arg in (name.attribute, None) for one in value.keywords):
        return ()
    several = frame.file.fields.get((owner, name.attribute), [])
    declared = [
        one for one in frame.file.bound.get((owner, name.attribute), [])
        if isinstance(one, ast.AnnAssign) and one.value is not None and not value.args
    ]  # fmt: skip
    return tuple([*several, *declared][:1]) if len(several) + len(declared) == 1 else ()


def _passed(
    name: str, function: Function, frame: Frame, frames: Sequence[Frame], at: int
) -> tuple[str, ast.expr | None, int, Frame]:
    """Return what to call a parameter, what was passed for it, and the frame in which, after its
    place: that which called the function; or, if none shows the call of an `__init__`, that of the
    only instance in the file."""
    caller = _caller(function, frames, at)
    if caller >= 0:
        return name, passed_for(name, function, frames[caller]), caller, frames[caller]
    owner = frame.file.class_of(function)
    if function.name == "__init__" and owner is not None:
        made = instances(owner, frame.file)
        if len(made) == 1:
            statement = made[0][0]
            scope = frame.file.scopes[statement]
            frame = Frame(frame.file, statement, scope, statement.lineno)
            return f"{owner.name}({name})", passed_for(name, function, frame), at, frame
    return name, None, at, frame


def _caller(function: Function, frames: Sequence[Frame], at: int) -> int:
    """Return the frame in which a function was called that runs in a frame at or before another;
    -1 if there is none. The frames of its lambdas count as its own."""
    while at >= 0 and frames[at].scope is not function:
        at -= 1
    at -= 1
    while at >= 0 and frames[at].scope is function and not calls_in(frames[at], function):
        at -= 1
    return at


def _made_from(statement: ast.stmt, name: str, frame: Frame) -> _Name | None:
    """Return what to follow from a statement that sets a name."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.For):
        value = of_a_turn(statement, name)
        method = iterates(value, frame) if isinstance(value, ast.Name) else None
        if method is not None:
            return _returned(method)
    if isinstance(value, ast.Yield):
        value = value.value
    if isinstance(statement, ast.AugAssign) or not isinstance(value, ast.expr):
        return None
    following = _name_of(value, frame)
    if following is None or following.text == name:
        return None
    is_function = bool(following.returned) and isinstance(value, ast.Name)
    return None if is_function and isinstance(statement, ast.Return) else following
