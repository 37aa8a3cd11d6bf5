"""Following the names of a failing statement back to what set them.

Of several statements that set a name, it is the nearest one above; another may have run. Where it
is not clear which statement that is, or what was passed for a parameter, nothing is yielded. What
puts something into a list, a dict or an object counts, too.
"""

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tutor.explain.arguments import (
    binders_of,
    calls_in,
    default_kept,
    is_traced,
    passed_for,
    unbound,
)
from tutor.explain.parsed_file import (
    Frame,
    Function,
    ParsedFile,
    is_self,
)
from tutor.explain.set_by import (
    falls_off,
    fillings,
    instances,
    is_empty,
    iterates,
    of_a_turn,
    place_in,
    results_of,
    returns_nothing,
    setting,
)
from tutor.explain.statement_names import Name, name_of, names_of, returned
from tutor.foreign.plain_text import one_line

MAX_STEPS = 3
"""Statements to show for each name."""

MAX_FRAMES = 20
"""Frames to follow arguments through, the innermost ones."""

MAX_DEFAULT = 40
"""Characters of a default to show."""

TRACED = (
    "`{function}` is compiled, so its argument `{name}` is traced; `static_argnames` can exempt it."
)
DEFAULT = "Nothing is passed for `{name}`, so it keeps its default: {default}."
NOTHING = "It has no `return`, so it returns None."
SOMETIMES = "Where it reaches no `return`, it returns None."

_SETS = (ast.Assign, ast.AnnAssign, ast.Return)


class Setting(Struct, frozen=True, eq=False):
    """Where something was set: the statement, and the expression that it was set to, or that was
    passed. `whole`: whether the name in the failing statement stands for all of it; `note`: what to
    say of it."""

    label: str
    frame: Frame
    value: ast.expr | None
    whole: bool = False
    note: str = ""


def settings(frames: Sequence[Frame], part: str, *, traced: bool) -> Iterator[Setting]:
    """Yield where the names were set that are in what failed of the innermost statement.

    **Arguments:** `part`: the code that failed, if it is known; `traced`: whether it matters that
    an argument is traced.
    """
    for name in names_of(frames[-1], part):
        yield from _chain(name, frames, traced)


def _chain(name: Name, frames: Sequence[Frame], traced: bool) -> Iterator[Setting]:
    """Yield where a name was set, and where what it was made from was. `traced`: whether it matters
    that a parameter is traced."""
    at, frame, shown = len(frames) - 1, frames[-1], 0
    place: int | None = None  # in a tuple that is still to be found
    whole = not isinstance(name.key, int)  # `pair[1]` is a part
    for _ in range(MAX_FRAMES):  # names may go round in a circle
        found: tuple[ast.stmt, ...] | Function
        if name.returned:
            found = tuple(one for function in name.returned for one in results_of(function))
        else:
            found = setting(name.text, frame)
        if name.returned and not found:
            yield from _without_return(name, frame.file)
            return
        value: ast.expr | None = None
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
            if traced and is_traced(name.text, found, frame.file):
                note = TRACED.format(name=name.text, function=found.name)
                yield Setting(name.text, _at(found, frame.file), None, note=note)
            label, value, at, frame = _passed(name.text, found, frame, frames, at)
            if value is None:
                yield from _kept(name.text, found, frame)
                return
            known = unbound(value, binders_of(frame.statement, value), frame)
            following = name_of(known, frame) if known is not None else None
            following = _going_on(name, following)
            if following is not None and following.text == name.text:
                whole = whole and not _is_part(value)
                name = following
                continue  # it is passed on under the same name
            yield Setting(label, frame, value, whole and place is None)
        else:
            if len(found) == 1 and isinstance(found[0], ast.FunctionDef | ast.AsyncFunctionDef):
                name = returned(found[0])
                continue
            inside = fillings(name.text, name.key, found[0], frame) if found else ()
            only = found[0] if len(found) == 1 else None
            inner = place_in(only, name.text) if only is not None else None
            whole = whole and None in (place, inner)  # not an element of an element
            place = place if inner is None else inner
            for statement in found:
                if not (inside and is_empty(statement)):
                    value, place = _value(statement, place)
                    sometimes = statement is found[-1] and any(map(falls_off, name.returned))
                    yield Setting(
                        name.text, _at(statement, frame.file), value, whole and place is None,
                        SOMETIMES if sometimes else "",
                    )  # fmt: skip
            for statement in inside:
                yield Setting(name.text, _at(statement, frame.file), None)
            if only is None or isinstance(only, ast.ClassDef):
                return
            frame = _at(only, frame.file)
            for one in _declared(name, frame):
                yield Setting(name.attribute, _at(one, frame.file), None)
            following = _going_on(name, _made_from(only, value, name.text, frame))
        whole = whole and not _is_part(value)
        shown += 1
        if following is None or shown >= MAX_STEPS:
            return
        name = following


def _kept(name: str, function: Function, caller: Frame) -> Iterator[Setting]:
    """Yield the function whose parameter keeps its default in the call of a frame."""
    default = default_kept(name, function, caller)
    if default is not None:
        note = DEFAULT.format(name=name, default=one_line(ast.unparse(default))[:MAX_DEFAULT])
        yield Setting(name, _at(function, caller.file), default, note=note)


def _without_return(name: Name, file: ParsedFile) -> Iterator[Setting]:
    """Yield the functions that return nothing."""
    for function in name.returned:
        if returns_nothing(function):
            yield Setting(name.text, _at(function, file), None, note=NOTHING)


def _is_part(value: ast.expr | None) -> bool:
    """Return whether an expression takes a part of something: `x[0]`, `x.shape`."""
    attribute = isinstance(value, ast.Attribute) and not is_self(value.value)
    return value is None or attribute or isinstance(value, ast.Subscript)


def _at(statement: ast.stmt, file: ParsedFile) -> Frame:
    return Frame(file, statement, file.scopes[statement], statement.lineno)


def _value(statement: ast.stmt, place: int | None) -> tuple[ast.expr | None, int | None]:
    """Return what a statement sets a name to, or returns, and the place of what is wanted in it, if
    it is not written as a tuple."""
    value = statement.value if isinstance(statement, _SETS) else None
    elements = value.elts if isinstance(value, ast.Tuple) else []
    if place is None or not place < len(elements):
        return value, place
    return elements[place], None


def _going_on(name: Name, following: Name | None) -> Name | None:
    """Return what to follow, with what is used of it if that is not said anew."""
    if following is None or following.returned or following.attribute or following.key is not None:
        return following
    return replace(following, attribute=name.attribute, key=name.key)


def _declared(name: Name, frame: Frame) -> tuple[ast.stmt, ...]:
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
            frame = _at(made[0][0], frame.file)
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


def _made_from(statement: ast.stmt, value: ast.expr | None, name: str, frame: Frame) -> Name | None:
    """Return what to follow from a statement that sets a name to a value."""
    value = value or getattr(statement, "value", None)
    if isinstance(statement, ast.For):
        value = of_a_turn(statement, name)
        method = iterates(value, frame) if isinstance(value, ast.Name) else None
        if method is not None:
            return returned(method)
    if isinstance(value, ast.Yield):
        value = value.value
    if isinstance(statement, ast.AugAssign) or not isinstance(value, ast.expr):
        return None
    following = name_of(value, frame)
    if following is None or following.text == name:
        return None
    is_function = bool(following.returned) and isinstance(value, ast.Name)
    return None if is_function and isinstance(statement, ast.Return) else following
