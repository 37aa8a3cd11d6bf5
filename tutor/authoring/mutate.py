"""Small wrong versions of an answer, to see whether the hidden checks notice.

A mutant is named by its operator and by what it changes, not by its line: the name stays the same
while the solution is edited elsewhere, and can be written into a lesson.
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
"""Characters of source that a mutant's name shows of each side: so many that one knows where it is,
and no more than fit."""

NOTHING = "nothing"


class Mutant(Struct, frozen=True):
    """One wrong version. `line` is that of the change in the original."""

    name: str
    line: int
    code: str
    diff: str


def mutants(source: str, filename: str = "solution.py") -> list[Mutant]:
    """All that the operators make of a module, in the order of its lines; none twice, and none
    that is the same program.

    **Arguments:** `filename`: what a diff calls it.

    Raises:
        SyntaxError: `source` is no Python.
    """
    seen = {_program(source, filename)}
    named: Counter[str] = Counter()
    found = []
    for line, operator, old, new, code in sorted(_changes(source), key=lambda change: change[0]):
        try:
            program = _program(code)
        except SyntaxError:
            continue  # such as a list that is assigned to where a name was
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
    """Line, operator, what stood there, what stands there now, and the whole."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    places = wrapper.resolve(PositionProvider)
    parents = wrapper.resolve(ParentNodeProvider)
    for node, place in places.items():
        above = list(_above(node, parents))
        if any(isinstance(one, cst.Annotation | cst.Import | cst.ImportFrom) for one in above):
            continue
        for operator in OPERATORS:
            for other in operator.wrong(node):
                code = wrapper.module.deep_replace(node, other)
                assert isinstance(code, cst.Module)
                old, new = _told(wrapper.module, node, other, above)
                yield place.start.line, operator.name, old, new, code.code


def _above(
    node: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode | None]
) -> Iterator[cst.CSTNode]:
    """A node, what it is part of, what that is part of, …"""
    current: cst.CSTNode | None = node
    while current is not None:
        yield current
        current = parents.get(current)


def _told(
    module: cst.Module, node: cst.CSTNode, other: cst.CSTNode, above: list[cst.CSTNode]
) -> tuple[str, str]:
    """What stood there and what stands there now, in a line each."""
    if isinstance(node, cst.FunctionDef | cst.ClassDef) and isinstance(other, type(node)):
        # All that is changed of one as a whole is its decorators.
        gone = [d for d in node.decorators if d not in other.decorators]
        return _line(module, gone[0].decorator) if gone else node.name.value, NOTHING
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
    """The same for two sources that differ in layout only."""
    return ast.dump(ast.parse(source, filename))


def _diff(old: str, new: str, filename: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), filename, "mutant", n=1, lineterm=""
    )
    return "\n".join(lines)
