"""Analysing Python source in packs without running it."""

import ast
import builtins
import re
import symtable
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tutor.syntax_tree import expression_tree, module_tree

BUILTINS = frozenset(dir(builtins))

JAX_HELPERS = frozenset({"jax", "jnp", "np", "refill", "instances"})
"""Names available to expressions that run with the learner's code."""

TORCH_HELPERS = frozenset({"torch", "F", "np", "math"})
"""Names available to expressions that run with the lesson's PyTorch."""


class BadPython(ValueError):
    """Invalid Python; `line` and `column` count from 1 within the text."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@lru_cache(maxsize=4096)
def free_names(expression: str) -> dict[str, tuple[int, int]]:
    """Return the free names of an expression, each with the line and column (from 1) of its first
    use. Raises: BadPython: it is not an expression."""
    text = expression.strip()
    lead = expression[: len(expression) - len(expression.lstrip())]
    above, before = lead.count("\n"), len(lead.rpartition("\n")[2])

    def position(line: int, column: int) -> tuple[int, int]:
        return above + line, column + (before if line == 1 else 0)

    try:
        tree, _ = _parse(text, "eval")
    except BadPython as error:
        raise BadPython(str(error), *position(error.line, error.column)) from None
    lines = [line.encode() for line in re.split("\r\n|\r|\n", text)]
    positions: dict[str, tuple[int, int]] = {}
    for node in _free(tree):
        # ast counts bytes; and before Python 3.12 it may misplace what is in an f-string.
        row = lines[node.lineno - 1] if node.lineno <= len(lines) else b""
        column = len(row[: max(node.col_offset, 0)].decode(errors="replace")) + 1
        at = position(node.lineno, column)
        positions[node.id] = min(positions.get(node.id, at), at)
    return positions


def _free(tree: ast.AST) -> Iterator[ast.Name]:
    """Uses of names that no lambda, comprehension or `:=` of the expression binds."""
    assigned = {n.target.id for n in ast.walk(tree) if isinstance(n, ast.NamedExpr)}
    pending: list[tuple[ast.AST, frozenset[str]]] = [(tree, frozenset(assigned))]
    while pending:
        node, bound = pending.pop()
        match node:
            case ast.Name(id=name):
                if name not in bound:
                    yield node
            case ast.Lambda(args=args, body=body):
                parameters = [*args.posonlyargs, *args.args, *args.kwonlyargs]
                parameters += [one for one in (args.vararg, args.kwarg) if one]
                pending.append((args, bound))  # its defaults
                pending.append((body, bound | {one.arg for one in parameters}))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                first = node.generators[0].iter  # evaluated outside
                targets = (n for one in node.generators for n in ast.walk(one.target))
                inner = bound | {n.id for n in targets if isinstance(n, ast.Name)}
                parts = [part for one in node.generators for part in ast.iter_child_nodes(one)]
                parts += [p for p in ast.iter_child_nodes(node) if p not in node.generators]
                pending += [(part, bound if part is first else inner) for part in parts]
            case _:
                pending += [(child, bound) for child in ast.iter_child_nodes(node)]


def calls_of(expression: str, functions: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the calls of `functions` in an expression: name, and arguments as source. Calls that
    use names bound by a lambda or comprehension are left out, as are calls with keywords or `*`.

    Raises:
        BadPython: it is not an expression.
    """
    known, free = set(functions), free_names(expression).keys()
    tree = expression_tree(expression.strip())
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - free
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
        if node.func.id in known and plain and not used & bound:
            found.append((node.func.id, tuple(map(ast.unparse, node.args))))
    return found


_RETURNS = re.compile(r"\s*\(([A-Za-z_]\w*(?:, [A-Za-z_]\w*)+)\)")


def result_names(expression: str, starter: str, torch: str) -> tuple[str, ...]:
    """Return names of the parts of an expression's value: the items' source for a list; for a
    call, those at the beginning of the function's docstring (`(loss, accuracy)`), or those that
    the PyTorch code returns.

    Raises:
        BadPython: one of them is not Python.
    """
    call = _parse(expression.strip(), "eval")[0]
    node = call.body if isinstance(call, ast.Expression) else None
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(ast.unparse(part)[:60] for part in node.elts)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return ()
    for source in (starter, torch):
        module = _parse(source, "exec")[0]
        assert isinstance(module, ast.Module)
        for one in module.body:
            if isinstance(one, ast.FunctionDef) and one.name == node.func.id:
                if found := _RETURNS.match(ast.get_docstring(one) or ""):
                    return tuple(found[1].split(", "))
                returned = [n.value for n in ast.walk(one) if isinstance(n, ast.Return)]
                parts = (
                    returned[-1].elts if returned and isinstance(returned[-1], ast.Tuple) else []
                )
                if parts and all(isinstance(part, ast.Name) for part in parts):
                    return tuple(part.id for part in parts if isinstance(part, ast.Name))
    return ()


@lru_cache(maxsize=512)
def defined_names(source: str) -> frozenset[str]:
    """Return the names that a module defines or imports at the top level. Raises: BadPython: it is
    not Python."""
    tree, table = _parse(source, "exec")
    defined = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }
    if sys.version_info >= (3, 12):
        # Comprehensions are compiled into the code around them, and the symbol table lists their
        # names there.
        defined -= _only_in_comprehensions(tree)
    return frozenset(defined)


@lru_cache(maxsize=64)
def own_names(source: str) -> dict[str, tuple[int, int]]:
    """Return the public names that a module defines itself, instead of importing them, each with
    the line and column (from 1) of its first definition. Raises: BadPython: it is not Python."""
    tree, _ = _parse(source, "exec")
    names = {name for name in defined_names(source) if not name.startswith("_")}
    lines = [line.encode() for line in re.split("\r\n|\r|\n", source)]
    found: dict[str, tuple[int, int]] = {}
    for name, node in _bindings(tree):
        if name in names:
            row = lines[node.lineno - 1]
            column = len(row[: node.col_offset].decode(errors="replace")) + 1
            if not isinstance(node, ast.Name):  # points at `def` or `class`
                column = max(column, row.decode(errors="replace").find(f" {name}", column - 1) + 2)
            found[name] = min(found.get(name, (node.lineno, column)), (node.lineno, column))
    return found


def _bindings(tree: ast.AST) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """Yield what the module's own statements define, but not what they import."""
    pending = [tree]
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                yield name, node
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                continue
            case ast.GeneratorExp():
                continue
        pending += ast.iter_child_nodes(node)


def undefined_names(source: str) -> dict[str, tuple[int, int]]:
    """Return the names that a module uses but neither defines nor imports, each with the line and
    column (from 1) of its first use; none if it imports `*`.

    Raises:
        BadPython: it is not Python.
    """
    tree, table = _parse(source, "exec")
    if any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in ast.walk(tree)):
        return {}
    tables = [table]
    for one in tables:  # grows
        tables += one.get_children()
    known = {*BUILTINS, "__file__"}
    for one in tables:
        for symbol in one.get_symbols():
            here = one is table or symbol.is_declared_global()
            if here and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()):
                known.add(symbol.get_name())
    lines = [line.encode() for line in re.split("\r\n|\r|\n", source)]
    found: dict[str, tuple[int, int]] = {}
    for one in tables:
        free = {s.get_name() for s in one.get_symbols() if s.is_global() and s.is_referenced()}
        for node in ast.walk(tree) if free - known else ():
            if isinstance(node, ast.Name) and node.id in free - known:
                row = lines[node.lineno - 1]
                at = node.lineno, len(row[: node.col_offset].decode(errors="replace")) + 1
                if at[0] >= one.get_lineno():
                    found[node.id] = min(found.get(node.id, at), at)
    return found


def _only_in_comprehensions(tree: ast.AST) -> set[str]:
    """Return the names that nothing but comprehensions assign."""
    targets = {
        id(name): name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    }
    others: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in targets:
                others.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                others.add(name)
            case ast.ClassDef(name=name):
                others.add(name)
            case ast.alias(name=name, asname=other):
                others.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                others.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                others.add(name)
    return set(targets.values()) - others


def _parse(source: str, mode: str) -> tuple[ast.AST, symtable.SymbolTable]:
    try:
        # The symbol table finds errors that the grammar allows, such as duplicate parameters.
        tree = expression_tree(source) if mode == "eval" else module_tree(source)
        return tree, symtable.symtable(source, "<pack>", mode)
    except SyntaxError as error:
        line, column = max(error.lineno or 1, 1), max(error.offset or 1, 1)
        raise BadPython(error.msg or "invalid syntax", line, column) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadPython(str(error) or type(error).__name__, 1, 1) from None


def texts(arguments: object) -> Iterator[str]:
    """Yield all strings in nested dicts, lists and tuples, such as a check's arguments."""
    if isinstance(arguments, str):
        yield arguments
    elif isinstance(arguments, dict):
        for child in arguments.values():
            yield from texts(child)
    elif isinstance(arguments, list | tuple):
        for child in arguments:
            yield from texts(child)
