"""What the names in a failing line stand for, as a learner would print them: shapes and dtypes of
arrays, numbers, and short structures."""

import ast
import sys
import types
import warnings
from collections.abc import Iterator
from inspect import getattr_static
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from tutor.foreign.plain_text import cut

MAX_SOURCE = 200_000
"""Characters of a module to parse."""

MAX_VALUES = 8
MAX_NODES = 400
"""Parts of an expression to look at."""

MAX_NAME, MAX_TEXT = 40, 80
"""Characters of a name and of what it stands for."""

MAX_ITEMS = 4
"""Items of a structure to describe."""

MAX_DEPTH = 3

MAX_INTEGER = 10**18
"""Larger ones are not shown with their digits, which may be many."""

_NUMBERS = (bool, int, float, complex, types.NoneType)
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)


class Place(NamedTuple):
    """Where an expression is: lines from 1, columns in bytes from 0."""

    line: int
    column: int
    end_line: int
    end_column: int

    def within(self, node: ast.expr) -> bool:
        begins = (node.lineno, node.col_offset)
        ends = (node.end_lineno or 0, node.end_col_offset or 0)
        return begins <= self[:2] and self[2:] <= ends


def place_of(traceback: types.TracebackType) -> Place | None:
    """Return where the instruction of a traceback's frame is; None if it is not known."""
    positions = traceback.tb_frame.f_code.co_positions()
    found = next(islice(positions, traceback.tb_lasti // 2, None), (None,) * 4)
    line, end_line, column, end_column = found
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return Place(line, column, end_line, end_column)


def line_values(source: str, traceback: types.TracebackType) -> list[tuple[str, str]]:
    """Return what a frame's failing expression was computed from: names such as `x`, `self.w` and
    `params["w"]`, and what each stands for. Of the module's code, only what its classes say of
    themselves may run."""
    found: dict[str, str] = {}
    scope = _scope(traceback.tb_frame)
    parts = (one for node in _failing_parts(source, traceback) for one in _values(node, scope))
    for part, value in islice(parts, MAX_NODES):
        name = ast.unparse(part)
        if name not in found and len(name) <= MAX_NAME and (text := summary(value)):
            found[name] = cut(text, MAX_TEXT)
        if len(found) == MAX_VALUES:
            break
    return [*found.items()]


def failing_call(source: str, traceback: types.TracebackType) -> tuple[str, Any] | None:
    """Return what a frame's failing expression called: its name in full, as far as it is an
    attribute of a module, and the function; None if it is not a call, or not known."""
    for node in _failing_parts(source, traceback):
        if not isinstance(node, ast.Call):
            continue
        scope, function = _scope(traceback.tb_frame), node.func
        if isinstance(function, ast.Call):  # `jax.vmap(f)(xs)` is a call of what `vmap` returned
            function = function.func
        name = ast.unparse(function)[:MAX_TEXT]
        if not isinstance(function, ast.Attribute):
            return name, _looked_up(function, scope, frozenset())
        holder = _looked_up(function.value, scope, frozenset())
        if isinstance(holder, types.ModuleType):
            return f"{holder.__name__}.{function.attr}", getattr(holder, function.attr)
        return name, getattr_static(type(holder), function.attr)
    return None


def _scope(frame: types.FrameType) -> dict[str, Any]:
    """Return what the names in a frame stand for."""
    code = frame.f_code
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    outer = {name: value for name, value in frame.f_globals.items() if name not in own}
    return {**outer, **frame.f_locals}


def _failing_parts(source: str, traceback: types.TracebackType) -> list[ast.expr]:
    """Return the expression in the module that a frame failed in; empty if it is not known."""
    place = place_of(traceback)
    # If the frame went on after it raised, as for `except` or `finally`, its names may stand for
    # other things by now.
    moved = traceback.tb_lasti != traceback.tb_frame.f_lasti
    if place is None or len(source) > MAX_SOURCE or moved:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were shown when the module was imported
        return _failing(ast.parse(source), place)


def _failing(module: ast.Module, place: Place) -> list[ast.expr]:
    """Return the smallest expression at a place; if that is what a value is assigned to, the
    value."""
    best: list[ast.expr] = []
    for node in ast.walk(module):
        if isinstance(node, ast.expr) and place.within(node):
            best = [node]  # `walk` comes to children after their parents
        if isinstance(node, ast.AugAssign) and place[:2] == (node.lineno, node.col_offset):
            best = [node.target, node.value]
        if isinstance(
            node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For | ast.comprehension
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.iter if isinstance(node, ast.For | ast.comprehension) else node.value
            for target in targets:
                if place.within(target) and value is not None:
                    if isinstance(target, ast.Subscript):  # any of the three may be at fault
                        return [target.value, target.slice, value]
                    return [value]
    return best


def _values(
    node: ast.AST, scope: dict[str, Any], bound: frozenset[str] = frozenset()
) -> Iterator[tuple[ast.expr, Any]]:
    """Yield the names in an expression with their values, in order, the longest that have one.

    **Arguments:** `bound`: names that the expression itself gives values to.
    """
    if isinstance(node, ast.Lambda):
        return
    bound |= _bound_in(node)
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        try:
            value = _looked_up(node, scope, bound)
        except (KeyError, AttributeError, IndexError, TypeError):
            pass
        else:
            yield node, value
            return
    for child in ast.iter_child_nodes(node):
        yield from _values(child, scope, bound)


def _bound_in(node: ast.AST) -> set[str]:
    """Return the names that a comprehension or `:=` gives values to."""
    targets: list[ast.expr] = [node.target] if isinstance(node, ast.NamedExpr) else []
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        targets = [one.target for one in node.generators]
    inner = (part for target in targets for part in ast.walk(target))
    return {part.id for part in inner if isinstance(part, ast.Name)}


def _looked_up(node: ast.expr, scope: dict[str, Any], bound: frozenset[str]) -> Any:
    """Return the value of a name, an attribute that an object holds, or an item of a list, tuple or
    dict by a constant.

    Raises: KeyError, AttributeError, IndexError, TypeError: it has none, or only code says which.
    """
    match node:
        case ast.Name(id=name) if name not in bound:
            return scope[name]
        case ast.Attribute(value=inner, attr=name):
            holder = _looked_up(inner, scope, bound)
            held = getattr_static(holder, "__dict__", None)
            if type(held) in (types.GetSetDescriptorType, types.MemberDescriptorType):
                held = object.__getattribute__(holder, "__dict__")
            if type(held) is not dict or hasattr(
                getattr_static(type(holder), name, None), "__set__"
            ):
                raise AttributeError(name)
            return held[name]
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            holder = _looked_up(inner, scope, bound)
            if type(holder) in (list, tuple, dict):
                return holder[key]
    raise TypeError


def summary(value: Any, depth: int = 0) -> str:
    """Return what a learner would want to know of a value, such as `float32[3, 2]`; empty for
    functions, classes and modules, whose names say it."""
    if type(value) is int and abs(value) >= MAX_INTEGER:
        return "a large integer"
    if type(value) in _NUMBERS:
        return cut(repr(value), 20)
    if type(value) is str:
        return repr(cut(value, 20))
    if isinstance(value, _CODE):
        return ""
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return f"NumPy {value.dtype}{list(value.shape)}"
    if (array := _of_jax(value)) or (variable := _of_nnx(value, depth)):
        return array or variable
    if type(value) in (list, tuple):
        inner = ", ".join(_items(value, depth))
        comma = "," if type(value) is tuple and len(value) == 1 else ""
        return f"[{inner}]" if type(value) is list else f"({inner}{comma})"
    if type(value) is dict:
        keys = (summary(key, MAX_DEPTH) or "…" for key in islice(value, MAX_ITEMS))
        pairs = zip(keys, _items(value.values(), depth), strict=False)
        more = [] if len(value) <= MAX_ITEMS else ["…"]
        return f"{{{', '.join([*(f'{key}: {text}' for key, text in pairs), *more])}}}"
    return type(value).__name__ if not depth or not callable(value) else "…"


def _items(values: Any, depth: int) -> list[str]:
    if depth == MAX_DEPTH:
        return ["…"] if len(values) else []
    shown = [summary(one, depth + 1) or "…" for one in islice(values, MAX_ITEMS)]
    return shown if len(values) <= MAX_ITEMS else [*shown, "…"]


def _of_jax(value: Any) -> str:
    """Describe an array or tracer of JAX."""
    jax = sys.modules.get("jax")
    if jax is None or not isinstance(value, jax.Array):
        return ""
    traced = "traced " if isinstance(value, jax.core.Tracer) else ""
    return f"{traced}{value.dtype}{list(value.shape)}"


def _of_nnx(value: Any, depth: int) -> str:
    """Describe a variable of Flax's NNX."""
    nnx = sys.modules.get("flax.nnx")
    if nnx is None or not isinstance(value, nnx.Variable) or depth == MAX_DEPTH:
        return ""
    return f"{type(value).__name__} {summary(value.get_raw_value(), depth + 1)}"
