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

MAX_SOURCE = 200_000
"""Characters of a module to parse."""

MAX_VALUES = 8
MAX_NAME, MAX_TEXT = 40, 80
"""Characters of a name and of what it stands for."""

MAX_ITEMS = 4
"""Items of a structure to describe."""

MAX_DEPTH = 3

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
    `params["w"]`, and what each stands for. None of the module's code is run for it."""
    place = place_of(traceback)
    if place is None or len(source) > MAX_SOURCE:
        return []
    frame = traceback.tb_frame
    scope = {**frame.f_globals, **frame.f_locals}
    found: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were shown when the module was imported
        module = ast.parse(source)
    for node in _failing(module, place):
        for part, value in _values(node, scope):
            name = ast.get_source_segment(source, part) or ""
            if name not in found and (text := describe(value)):
                found[name] = text
    pairs = [(name, _cut(text)) for name, text in found.items() if len(name) <= MAX_NAME]
    return pairs[:MAX_VALUES]


def _failing(module: ast.Module, place: Place) -> list[ast.expr]:
    """Return the smallest expression at a place; if that is what a value is assigned to, the
    value."""
    best: list[ast.expr] = []
    for node in ast.walk(module):
        if isinstance(node, ast.expr) and place.within(node):
            best = [node]  # `walk` comes to children after their parents
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.iter if isinstance(node, ast.For) else node.value
            for target in targets:
                if place.within(target) and value is not None:
                    if isinstance(target, ast.Subscript):  # any of the three may be at fault
                        return [target.value, target.slice, value]
                    return [value]
    return best


def _values(node: ast.AST, scope: dict[str, Any]) -> Iterator[tuple[ast.expr, Any]]:
    """Yield the names in an expression with their values, in order, the longest that have one."""
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        try:
            value = _looked_up(node, scope)
        except (KeyError, AttributeError, IndexError, TypeError):
            pass
        else:
            yield node, value
            return
    for child in ast.iter_child_nodes(node):
        yield from _values(child, scope)


def _looked_up(node: ast.expr, scope: dict[str, Any]) -> Any:
    """Return the value of a name, an attribute that an object holds, or an item of a list, tuple or
    dict by a constant.

    Raises: KeyError, AttributeError, IndexError, TypeError: it has none, or only code says which.
    """
    match node:
        case ast.Name(id=name):
            return scope[name]
        case ast.Attribute(value=inner, attr=name):
            held = getattr_static(_looked_up(inner, scope), "__dict__", None)
            if type(held) is types.GetSetDescriptorType:
                held = object.__getattribute__(_looked_up(inner, scope), "__dict__")
            if type(held) is not dict:
                raise AttributeError(name)
            return held[name]
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            holder = _looked_up(inner, scope)
            if type(holder) in (list, tuple, dict):
                return holder[key]
    raise TypeError


def describe(value: Any, depth: int = 0) -> str:
    """Return what a learner would want to know of a value, such as `float32[3, 2]`; empty for
    functions, classes and modules, whose names say it."""
    if type(value) in _NUMBERS:
        return _cut(repr(value), 20)
    if type(value) is str:
        return repr(_cut(value, 20))
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
        keys = map(repr, islice(value, MAX_ITEMS))
        pairs = zip(keys, _items(value.values(), depth), strict=False)
        more = [] if len(value) <= MAX_ITEMS else ["…"]
        return f"{{{', '.join([*(f'{key}: {text}' for key, text in pairs), *more])}}}"
    return type(value).__name__ if not depth or not callable(value) else "…"


def _items(values: Any, depth: int) -> list[str]:
    if depth == MAX_DEPTH:
        return ["…"] if len(values) else []
    shown = [describe(one, depth + 1) or "…" for one in islice(values, MAX_ITEMS)]
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
    return f"{type(value).__name__} {describe(value.get_raw_value(), depth + 1)}"


def _cut(text: str, most: int = MAX_TEXT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
