"""Mutants: small wrong versions of a solution, which the hidden checks must catch.

A mutant is named by its operator and its change, not by its line, so that lessons can refer to it
while the solution is edited elsewhere.
"""

import ast
import difflib
from collections import Counter
from collections.abc import Iterator, Mapping

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from msgspec import Struct

from tutor.authoring.operators import OPERATORS

ENOUGH, SNIPPET = 16, 100
"""Characters of source on each side of a mutant's name: enough to locate it, few enough to fit."""

NOTHING = "nothing"


class Mutant(Struct, frozen=True):
    """A wrong version. `line` is that of the change in the original."""

    name: str
    line: int
    code: str
    diff: str


def mutants(source: str, filename: str = "solution.py") -> list[Mutant]:
    """Return all mutants of a module in the order of its lines, without duplicates and without
    those that differ only in layout.

    **Arguments:** `filename`: the name in diffs.

    Raises:
        SyntaxError: `source` is not valid Python.
    """
    seen = {_program(source, filename)}
    named: Counter[str] = Counter()
    found = []
    for line, operator, old, new, code in sorted(_changes(source), key=lambda change: change[0]):
        try:
            program = _program(code)
        except SyntaxError:
            continue  # such as an assignment to a list
        if program in seen:
            continue
        seen.add(program)
        name = f"{operator}@{old} -> {new}"
        named[name] += 1
        if named[name] > 1:
            name = f"{name} #{named[name]}"
        found.append(Mutant(name, line, code, _diff(source, code, filename)))
    return found


def _changes(source: str) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield line, operator, old source, new source, and the whole module."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    positions = wrapper.resolve(PositionProvider)
    parents = wrapper.resolve(ParentNodeProvider)
    for node, position in positions.items():
        above = list(_above(node, parents))
        if any(isinstance(one, cst.Annotation | cst.Import | cst.ImportFrom) for one in above):
            continue
        for operator in OPERATORS:
            for other in operator.wrong(node):
                code = wrapper.module.deep_replace(node, other)
                assert isinstance(code, cst.Module)
                old, new = _snippets(wrapper.module, node, other, above)
                yield position.start.line, operator.name, old, new, code.code


def _above(
    node: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode | None]
) -> Iterator[cst.CSTNode]:
    """Yield a node and its ancestors."""
    current: cst.CSTNode | None = node
    while current is not None:
        yield current
        current = parents.get(current)


def _snippets(
    module: cst.Module, node: cst.CSTNode, other: cst.CSTNode, above: list[cst.CSTNode]
) -> tuple[str, str]:
    """Return the old and the new source, in a line each."""
    if isinstance(node, cst.FunctionDef | cst.ClassDef) and isinstance(other, type(node)):
        # Operators replace a whole definition only to remove a decorator.
        removed = [d for d in node.decorators if d not in other.decorators]
        return _line(module, removed[0].decorator) if removed else node.name.value, NOTHING
    if isinstance(node, cst.If) and isinstance(other, cst.If):
        return _line(module, node.test), _line(module, other.test)
    if isinstance(node, cst.SimpleStatementLine):
        return _line(module, node.body[0]), NOTHING
    shown = node
    for part in above:
        if isinstance(part, cst.BaseExpression | cst.Arg | cst.BaseSmallStatement):
            shown = part
            if len(_line(module, part)) >= ENOUGH:
                break
        if isinstance(part, cst.BaseCompoundStatement | cst.SimpleStatementLine):
            break
    changed = other if shown is node else shown.deep_replace(node, other)
    assert isinstance(changed, cst.CSTNode)
    return _line(module, shown), _line(module, changed)


def _line(module: cst.Module, node: cst.CSTNode) -> str:
    text = " ".join(module.code_for_node(node).split()).rstrip(",")
    return text if len(text) <= SNIPPET else f"{text[: SNIPPET - 1]}…"


def _program(source: str, filename: str = "mutant") -> str:
    """Return a text that is the same for sources that differ only in layout."""
    return ast.dump(ast.parse(source, filename))


def _diff(old: str, new: str, filename: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), filename, "mutant", n=1, lineterm=""
    )
    return "\n".join(lines)
