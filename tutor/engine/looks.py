"""What a submission looks at beside arrays: the call stack, other modules, the interpreter.

Its source says much of that, and its sandbox notices the rest (`tutor.sandbox.audit`). Neither
decides anything: a report names the lines, and a grader reads them.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from tutor.foreign.plain_text import one_line
from tutor.foreign.python_source import parse
from tutor.foreign.source_lines import source_lines
from tutor.report import Look, LookKind
from tutor.sandbox.protocol import Noticed

MAX_LOOKS, MAX_LOOK_NAME = 20, 60
"""Looks in a report, and characters of what each uses."""

_MODULES: dict[str, LookKind] = {
    "tutor": "modules",
    **dict.fromkeys(
        ("inspect", "gc", "ctypes", "_ctypes", "faulthandler", "tracemalloc"), "import"
    ),
    **dict.fromkeys(("bdb", "dis", "marshal", "pdb", "trace"), "import"),
}
"""Modules whose import is a look."""

_NAMES: dict[str, LookKind] = {
    **dict.fromkeys(("_getframe", "_getframemodulename", "currentframe", "findCaller"), "stack"),
    **dict.fromkeys(("_current_frames", "_current_exceptions", "stack_info"), "stack"),
    **dict.fromkeys(("extract_stack", "format_stack", "print_stack", "walk_stack"), "stack"),
    **dict.fromkeys(("walk_tb", "tb_frame", "gi_frame", "cr_frame", "ag_frame"), "stack"),
    **dict.fromkeys(("f_back", "f_code", "f_locals", "f_globals", "f_builtins"), "stack"),
    **dict.fromkeys(("cr_origin", "source_info", "source_info_util"), "stack"),
    "get_traceback": "stack",
    **dict.fromkeys(("def_impl", "clear_event_listeners"), "patch"),
    **dict.fromkeys(("__code__", "__closure__", "cell_contents", "CodeType"), "code"),
    **dict.fromkeys(("get_objects", "get_referrers", "get_referents", "__subclasses__"), "objects"),
    **dict.fromkeys(("settrace", "settrace_all_threads", "addaudithook"), "tracing"),
    **dict.fromkeys(("setprofile", "setprofile_all_threads"), "tracing"),
    **dict.fromkeys(("__globals__", "__builtins__"), "modules"),
}
"""Names that are a look wherever they stand: alone, as an attribute, or as a string."""

_OF_SYS: dict[str, LookKind] = {"modules": "modules", "monitoring": "tracing"}
_OF_BUILTINS: dict[str, LookKind] = dict.fromkeys(("exec", "eval", "compile"), "text")
"""Names that are a look where they mean these modules' functions."""

_IMPORTS = ("__import__", "import_module")
_ASSIGNS = ("setattr", "delattr", "__setattr__", "__delattr__")
_DOTTED = re.compile(r"\w+(?:\.\w+)*")
_MAX_PARTS = 40
"""Parts of a dotted name."""

_Path: TypeAlias = tuple[str, ...]


def looks(source: str, noticed: Iterable[Noticed] = ()) -> tuple[Look, ...]:
    """Return what a submission looks at, by line, one of a kind for each.

    **Arguments:** `noticed`: by its sandboxes, which may lie.
    """
    last = len(source_lines(source))
    found = {}
    for one in noticed:
        line = one.line if one.line <= last else 0
        found[line, one.kind] = Look(line, one.kind, one_line(one.name))
    for node, kind, name in _said(source):
        line = getattr(node, "lineno", 0)
        found[line, kind] = Look(line, kind, name[:MAX_LOOK_NAME])
    return tuple(sorted(found.values())[:MAX_LOOKS])


def _said(source: str) -> Iterator[tuple[ast.AST, LookKind, str]]:
    """Yield what the source says. Walked without recursion, because it may be deep."""
    try:
        module = parse(source)
    except SyntaxError:
        return
    names = _Names(module)
    pending: list[tuple[ast.AST, frozenset[str]]] = [(module, frozenset())]
    while pending:
        node, hidden = pending.pop()
        parts = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            hidden |= {one.arg for one in _arguments(node.args)}
        elif isinstance(node, ast.BinOp):
            parts = _operands(node)
            texts = [
                part.value
                for part in parts
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            if len(texts) == len(parts):
                yield from ((node, *look) for look in _of_text("".join(texts)))
        yield from ((node, *look) for look in names.looks(node, hidden))
        pending += [(part, hidden) for part in parts]


def _arguments(of: ast.arguments) -> Iterator[ast.arg]:
    """Yield the arguments that a function names, without walking their defaults."""
    yield from (*of.posonlyargs, *of.args, *of.kwonlyargs)
    yield from (one for one in (of.vararg, of.kwarg) if one is not None)


def _operands(node: ast.BinOp) -> list[ast.AST]:
    """Return what a sum adds up; of another operation, its children."""
    operands: list[ast.AST] = []
    pending: list[ast.AST] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add):
            pending += [part.right, part.left]
        else:
            operands.append(part)
    return operands if operands != [node] else [node.left, node.right]


def _of_text(text: str) -> Iterator[tuple[LookKind, str]]:
    """Yield what a string names, if it is nothing but a name."""
    if len(text) > 200 or not _DOTTED.fullmatch(text):
        return
    parts = text.split(".")
    if parts[0] == "tutor" and len(parts) > 1:
        yield "modules", text
    for part in parts:
        if part in _NAMES:
            yield _NAMES[part], text


def _of_import(module: str) -> Iterator[tuple[LookKind, str]]:
    if kind := _MODULES.get(module.partition(".")[0]):
        yield kind, module


class _Names:
    """What a module's names mean, as far as it matters here."""

    def __init__(self, module: ast.Module) -> None:
        self._imported: dict[str, _Path] = {}
        """Names for something of another module, with its path."""
        self._own = set[str]()
        """Names that the module gives something itself."""
        for node in ast.walk(module):
            match node:
                case ast.Import(names=names):
                    for one in names:
                        path = tuple(one.name.split("."))
                        self._imported[one.asname or path[0]] = path if one.asname else path[:1]
                case ast.ImportFrom(module=str(source), names=names):
                    for one in names:
                        self._imported[one.asname or one.name] = (*source.split("."), one.name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self._own.add(name)
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    self._own.add(name)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if path := self._path(value, frozenset()):
                        self._imported.setdefault(name, path)

    def _path(self, node: ast.AST, hidden: frozenset[str]) -> _Path:
        """Return the path of something of another module, such as `("jax", "lax", "scan")`; empty
        if it is not."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute) and len(parts) < _MAX_PARTS:
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in hidden:
            return ()
        path = self._imported.get(node.id, ())
        return (*path, *reversed(parts)) if path else ()

    def looks(self, node: ast.AST, hidden: frozenset[str]) -> Iterator[tuple[LookKind, str]]:
        """Yield what a node says apart from its children."""
        match node:
            case ast.Import(names=names):
                for one in names:
                    yield from _of_import(one.name)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from _of_import(module)
                for one in names:
                    yield from self._of_path((module, one.name))
            case ast.Attribute(attr=name):
                if isinstance(node.ctx, ast.Store | ast.Del):
                    yield from self._of_target(node, hidden)
                yield from self._of_path(self._path(node, hidden) or ("", name))
            case ast.Name(id=name) if name not in self._own:
                yield from self._of_path(self._imported.get(name) or ("builtins", name))
            case ast.Constant(value=str(text)):
                yield from _of_text(text)
            case ast.keyword(arg="stacklevel", value=ast.Constant(value=1 | 2)):
                pass
            case ast.keyword(arg="stack_info" | "stacklevel" | "debug_info" as name):
                yield "stack", name
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *rest]):
                yield from self._of_call(name, first, rest, hidden)

    def _of_path(self, path: _Path) -> Iterator[tuple[LookKind, str]]:
        *_, module, name = "", *path
        of = {"sys": _OF_SYS, "builtins": _OF_BUILTINS}.get(module, {})
        kind = _NAMES.get(name) or of.get(name)
        if name == "__dict__" and module:
            kind = "modules"
        if kind:
            yield kind, name if module in ("", "builtins") else f"{module}.{name}"

    def _of_target(self, node: ast.AST, hidden: frozenset[str]) -> Iterator[tuple[LookKind, str]]:
        """Yield that something of another module is replaced."""
        if path := self._path(node, hidden):
            yield "patch", ".".join(path)

    def _of_call(
        self, function: str, first: ast.AST, rest: list[ast.expr], hidden: frozenset[str]
    ) -> Iterator[tuple[LookKind, str]]:
        match function, rest:
            case ("vars", []) if path := self._path(first, hidden):
                yield "modules", f"vars({'.'.join(path)})"
            case ("getattr", [ast.Constant(value=str(name)), *_]):
                yield from self._of_path((*self._path(first, hidden), name))
            case ("getattr", [_, *_]) if (path := self._path(first, hidden)) and (
                path[0] in ("sys", "builtins", *_MODULES)
            ):
                yield "modules", f"getattr({path[0]}, …)"
        if function in _ASSIGNS:
            yield from self._of_target(first, hidden)
        elif function in _IMPORTS:
            if not isinstance(first, ast.Constant):
                yield "modules", f"{function}(…)"
            elif isinstance(first.value, str):
                yield from _of_import(first.value)
