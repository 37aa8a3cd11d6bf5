"""What calls of libraries return, where that is not what PyTorch users expect: shown below a
statement that sets a name.

The table is data, in `returned.yaml`. Tests run a proof of each entry.
"""

import ast
import builtins
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from tutor.explain.parsed_file import Frame, is_self
from tutor.explain.set_by import setting

TABLE = Path(__file__).with_name("returned.yaml")

MAX_DEPTH = 12
"""Calls and names to go through, from a call to what made the function that it calls."""

_PASSES_ON = ("jax.jit", "flax.nnx.jit", "equinox.filter_jit", "functools.partial")
"""Functions whose result returns what their first argument would."""


class Returned(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What some calls return."""

    calls: Annotated[
        tuple[str, ...],
        Meta(
            min_length=1,
            description="Full names, each with `()`: `jax.vjp()`, or `jax.grad()()`, the call of "
            "its result. `optax.*().init()` is a method of what any function of Optax returns, "
            "`?.get()` one of anything.",
        ),
    ]
    returns: Annotated[str, Meta(min_length=1, max_length=110, description="A sentence.")]
    has: Annotated[str, Meta(description="A keyword that one of the calls must have.")] = ""
    imports: Annotated[str, Meta(description="A module that the file must import, or a part.")] = ""
    least: Annotated[int, Meta(ge=0, description="Arguments that the call must have at least.")] = 0


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole table. Of several entries that fit, the first counts."""

    about: str
    returned: Annotated[tuple[Returned, ...], Meta(min_length=1)]


def returned_by(value: ast.expr | None, frame: Frame) -> str:
    """Return what is worth knowing of the result of an expression, if it is a call."""
    if not isinstance(value, ast.Call):
        return ""
    keywords: set[str] = set()
    call = _spelled(value, frame, keywords, MAX_DEPTH)
    imported = frame.file.imported.values()
    for entry in table():
        enough = len(value.args) + len(value.keywords) >= entry.least
        known = not entry.imports or any(one.startswith(entry.imports) for one in imported)
        fits = enough and known and (not entry.has or entry.has in keywords)
        if fits and any(is_call(call, pattern) for pattern in entry.calls):
            return entry.returns
    return ""


def spelled(call: ast.expr, frame: Frame) -> str:
    """Return a call as the table names it, in full, with `?` for what is not known."""
    return _spelled(call, frame, set(), MAX_DEPTH)


def is_call(call: str, pattern: str) -> bool:
    """Return whether a call is one of a pattern, whose only `*` stands for the rest of a name."""
    start, star, end = pattern.partition("*")
    if not star:
        return call == pattern
    rest = call.removeprefix(start).removesuffix(end)
    return call.startswith(start) and call.endswith(end) and "()" not in rest


def _spelled(node: ast.expr, frame: Frame, keywords: set[str], depth: int) -> str:
    """Return an expression as the table names it, and add the keywords of its calls."""
    if depth == 0:
        return "?"
    if isinstance(node, ast.Call):
        keywords |= {
            one.arg
            for one in node.keywords
            if one.arg and not (isinstance(one.value, ast.Constant) and not one.value.value)
        }
        called = _called(node.func, frame, keywords, depth - 1)
        if called in _PASSES_ON and node.args:
            return _spelled(node.args[0], frame, keywords, depth - 1)
        return f"{called}()"
    if isinstance(node, ast.Attribute):
        if is_self(node.value):
            return _made(f"self.{node.attr}", frame, keywords, depth)
        owner = _spelled(node.value, frame, keywords, depth - 1)
        return "?" if owner == "?" else f"{owner}.{node.attr}"
    if isinstance(node, ast.Name):
        if node.id in frame.file.imported:
            return frame.file.imported[node.id]
        return _made(node.id, frame, keywords, depth)
    return "?"


def _called(function: ast.expr, frame: Frame, keywords: set[str], depth: int) -> str:
    if isinstance(function, ast.Attribute) and not is_self(function.value):
        return f"{_spelled(function.value, frame, keywords, depth - 1)}.{function.attr}"
    return _spelled(function, frame, keywords, depth - 1)


def _made(name: str, frame: Frame, keywords: set[str], depth: int) -> str:
    """Return what a name of the file stands for: what the call that made it is of, or, of a class,
    its base; a function is what decorates it."""
    file = frame.file
    if not name.startswith("self."):
        made = file.class_named(name, frame.scope)
        if made is not None and made.bases:
            return _spelled(made.bases[0], frame, keywords, depth - 1)
        function = file.function(name, frame.scope)
        if function is not None:
            marks = function.decorator_list
            if len(marks) != 1:
                return "?"
            mark = marks[0]
            whole = _spelled(mark, frame, keywords, depth - 1)
            # `@jax.grad`, or `@partial(jax.grad, argnums=1)`
            return f"{whole}()" if whole not in _PASSES_ON else "?"
    found = setting(name, frame)
    if found == () and hasattr(builtins, name):
        return name
    if not isinstance(found, tuple) or len(found) != 1:
        return "?"
    statement = found[0]
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return "?"
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if not all(isinstance(one, ast.Name | ast.Attribute) for one in targets):
        return "?"
    scope = file.scopes[statement]
    at = Frame(file, statement, scope, statement.lineno)
    return _spelled(statement.value, at, keywords, depth - 1)


@cache
def table() -> tuple[Returned, ...]:
    """Return all entries, from the cache on disk if they are there."""
    from tutor.explain.rule_cache import cached

    return cached("returned", [TABLE], lambda tree: tree["returned"], tuple[Returned, ...])
