"""Which statements of a file set a name, as far as that is clear."""

import ast
from collections.abc import Iterator, Sequence

from tutor.explain.parsed_file import (
    FUNCTIONS,
    SCOPES,
    Frame,
    Function,
    ParsedFile,
    Scope,
    own_expressions,
    parameters,
)

MAX_EACH = 2
"""Statements to show of several that set one name."""

_BEGINS = ("__init__", "setup", "__post_init__")
"""Methods that set attributes before others run."""


def setting(name: str, frame: Frame) -> tuple[ast.stmt, ...] | Function:
    """Return the statements that may have set a name before a frame's: the nearest one above it, or
    the two that set an attribute of `self`; none if they are more, or it is not clear. If the name
    is a parameter, return its function."""
    if name.startswith("self."):
        return _attribute(name[5:], frame)
    file, scope = frame.file, frame.scope
    here = file.bound.get((scope, name), [])
    above = [one for one in here if one.lineno < frame.statement.lineno]
    if above:
        last = max(above, key=lambda one: one.lineno)
        # Of a `try`, it is the name of what was caught.
        return () if isinstance(last, ast.ClassDef | ast.Try | ast.TryStar) else (last,)
    if here and name not in parameters(scope) and not _is_global(name, frame):
        return ()  # a local name that has no value yet
    at: Scope | None = scope
    while at is not None:
        if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef) and name in parameters(at):
            return at
        if at is not scope and not isinstance(at, ast.ClassDef) and (at, name) in file.bound:
            several = file.bound[at, name]
            return tuple(several) if len(several) == 1 else ()
        at = file.parents.get(at)
    return ()


def _is_global(name: str, frame: Frame) -> bool:
    return any(
        name in one.names
        for one, scope in frame.file.scopes.items()
        if scope is frame.scope and isinstance(one, ast.Global | ast.Nonlocal)
    )


def _attribute(name: str, frame: Frame) -> tuple[ast.stmt, ...]:
    file = frame.file
    owner = file.class_of(frame.scope)
    if owner is None:
        return ()
    several = [one for one in file.fields.get((owner, name), []) if one is not frame.statement]
    first = [one for one in several if getattr(file.scopes[one], "name", "") in _BEGINS]
    if not several:
        return field(name, owner, file)
    return tuple(several if len(several) <= MAX_EACH else first if len(first) == 1 else ())


def field(name: str, owner: ast.ClassDef, file: ParsedFile) -> tuple[ast.stmt, ...]:
    """Return what sets a field of a class, as of a dataclass or a Linen module: the statements that
    make instances and pass it, if they are few; else its default."""
    here = file.bound.get((owner, name), [])
    declared = [one for one in here if isinstance(one, ast.AnnAssign | ast.Assign)]
    if len(declared) != 1:
        return ()
    made = instances(owner, file)
    if any(one.arg is None for _, call in made for one in call.keywords) or any(
        isinstance(one, ast.Starred) for _, call in made for one in call.args
    ):
        return ()  # what `**options` passes is not known
    order = [one.target.id for one in owner.body
             if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]  # fmt: skip
    # With more decorators than @dataclass, the order of arguments may be another.
    place = order.index(name) if name in order and len(owner.decorator_list) <= 1 else -1
    passed = [
        statement
        for statement, call in made
        if any(one.arg == name for one in call.keywords) or 0 <= place < len(call.args)
    ]
    if len(made) <= MAX_EACH and passed:
        return tuple(dict.fromkeys(passed))
    has_default = declared[0].value is not None
    return (declared[0],) if made and has_default and not passed else ()


def instances(owner: ast.ClassDef, file: ParsedFile) -> list[tuple[ast.stmt, ast.Call]]:
    """Return the statements of a file that make instances of a class, with the calls."""
    return [
        (statement, call)
        for statement in file.scopes
        for whole in own_expressions(statement)
        for call in ast.walk(whole)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == owner.name
        and file.class_named(owner.name, file.scopes[statement]) is owner
    ]


def fillings(name: str, key: object, after: ast.stmt, frame: Frame) -> tuple[ast.stmt, ...]:
    """Return the statements between one and a frame's that put something into what a name stands
    for, such as `rows.append(x)` and `params["w"] = x`: the last of them, for an attribute of
    `self` those of the class. Those of another key than `key`, if that is known, do not count."""
    file = frame.file
    if name.startswith("self."):
        owner = file.class_of(frame.scope)
        found = file.filled.get((owner, name[5:]), []) if owner is not None else []
        found = [one for one in found if one[0] is not frame.statement]
    else:
        found = file.filled.get((file.scopes[after], name), [])
        here = frame.statement.lineno if file.scopes[after] is frame.scope else float("inf")
        found = [one for one in found if after.lineno < one[0].lineno < here]
    fit = [statement for statement, into in found if None in (key, into) or key == into]
    return tuple(dict.fromkeys(fit))[-MAX_EACH:]


def is_empty(statement: ast.stmt) -> bool:
    """Return whether a statement makes an empty list or dict, to be filled by others."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("list", "dict", "set") and not value.args and not value.keywords
    return (isinstance(value, ast.List) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.keys
    )


def place_in(statement: ast.stmt, name: str) -> int | None:
    """Return which element of a tuple a statement sets a name to; None if it is all of it."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    for target in targets:
        for at, one in enumerate(target.elts if isinstance(target, ast.Tuple | ast.List) else []):
            if ast.unparse(one) == name:
                return at
    return None


def results_of(function: Function) -> tuple[ast.stmt, ...]:
    """Return the statements that give a function's results: where it returns values, or, if it is
    a generator, yields them; none if they are many."""
    found = [*_inside(function)]
    yields = [one for one in found if _yields(one)]
    returns = [one for one in found if isinstance(one, ast.Return) and one.value is not None]
    chosen = yields or returns
    return tuple(chosen) if len(chosen) <= MAX_EACH else ()


def returns_nothing(function: Function) -> bool:
    """Return whether a function returns None, since it has neither `return` nor `yield`, and more
    to do than to say so or to raise."""
    body = [one for one in function.body if not _says(one)]
    if not body or isinstance(body[-1], ast.Raise) or function.decorator_list:
        return False
    return not any(isinstance(one, ast.Return) or _yields(one) for one in _inside(function))


def falls_off(function: Function) -> bool:
    """Return whether a function may reach its end without a `return`, and so return None."""
    return not any(_yields(one) for one in _inside(function)) and not _ends(function.body)


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Return whether a block never goes on after its last statement, or that is not clear."""
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.For):
        return bool(last.orelse) and _ends(last.orelse)
    if isinstance(last, ast.With):
        return True  # it may swallow an exception, or not
    return isinstance(last, ast.Return | ast.Raise | ast.While | ast.Try | ast.TryStar | ast.Match)


def _says(statement: ast.stmt) -> bool:
    constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return constant or isinstance(statement, ast.Pass)


def _yields(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Yield | ast.YieldFrom)


def _inside(function: Function) -> Iterator[ast.stmt]:
    """Yield the statements of a function in their order, without those of functions inside."""
    waiting: list[ast.AST] = [*reversed(function.body)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (*SCOPES, *FUNCTIONS)):
            waiting += reversed([*ast.iter_child_nodes(node)])


def of_a_turn(statement: ast.For, name: str) -> ast.expr | None:
    """Return what a loop goes through to set a name: in `for i, x in enumerate(xs)`, `xs`."""
    through, target = statement.iter, statement.target
    if not isinstance(through, ast.Call) or not isinstance(through.func, ast.Name):
        return through
    if through.func.id not in ("enumerate", "zip"):
        return through
    args = [*through.args]
    if through.func.id == "enumerate":
        args = [ast.Constant(0), *args[:1]]
    places = [
        at
        for at, one in enumerate(target.elts if isinstance(target, ast.Tuple) else [])
        if any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(one))
    ]
    return args[places[0]] if places and places[0] < len(args) else None


ITERATES = ("__iter__", "__next__", "__getitem__")
"""Methods that give the items of an object."""


def iterates(through: ast.Name, frame: Frame) -> Function | None:
    """Return the method that gives the items of a variable, if it holds an instance of a class of
    the file."""
    made = setting(through.id, frame)
    if not isinstance(made, tuple) or len(made) != 1:
        return None
    value = getattr(made[0], "value", None)
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return None
    owner = frame.file.class_named(value.func.id, frame.file.scopes[made[0]])
    methods = (
        {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)} if owner else {}
    )
    found = [methods[one] for one in ITERATES if one in methods]
    return found[0] if found else None
