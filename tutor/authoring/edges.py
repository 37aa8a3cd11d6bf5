"""A remark on edges of the domains of PyTorch's functions that no case reaches.

Answers that differ from the reference only there pass: a small number added before a logarithm, or
an index that is one off at the end. What is reached is observed while the reference runs. An edge
counts only if it can be reached: with arrays of zeros or ones, or, for indices that vary, always.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from tutor.authoring.page import NodeRemark
from tutor.checks.held_out import HeldOut
from tutor.engine.plan import plan, requests
from tutor.engine.references import ReferenceFailed, References, Request
from tutor.lesson import Lesson
from tutor.sandbox.process import Sandbox
from tutor.tree import Leaf, Tree, entry, items, text

SEEDS = (0, 1)
"""Inputs are drawn under each of these."""

FILLS = (0.0, 1.0)
"""Numbers with which arrays are filled, to see which edges can be reached."""

INSIDE = "tutor.checks.inside.edges"

EXCLUDED = re.compile(
    r"\b(positive|non-?zero)\b"
    r"|\b(never|no)\b[^.,:;()]{0,40}\b(0|1|zeros?|equal|empty|infinit\w+)\b"
    r"|\bnever\b[^.,:;()]{0,40}\b(first|last|end)\b",
    re.IGNORECASE,
)
"""Words of a brief that exclude an edge: "rates are positive", "the sum is never 0", "no row has
equal numbers"."""

CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


def remarks_on_edges(
    lesson: Lesson, memory: Path, begin: Callable[[], Sandbox]
) -> Iterator[NodeRemark]:
    """Yield a remark if no case reaches some edge, and the brief does not exclude any.

    **Arguments:** as for `tutor.authoring.expected.remarks_on_expected`.
    """
    if EXCLUDED.search(CODE.sub("", lesson.brief)):
        return
    if missed := unreached(lesson, memory, begin):
        listed = ", ".join(f"{edge} (line {line})" for line, edge in missed)
        yield NodeRemark(
            ("torch",),
            "unreached-edge",
            f"no case reaches these edges of the PyTorch: {listed}",
            "add inputs that do, or exclude them in the brief, such as: the sum is never 0",
        )


def unreached(lesson: Lesson, memory: Path, begin: Callable[[], Sandbox]) -> list[tuple[int, str]]:
    """Return the edges that can be reached, and are in no case, with their lines in `torch`.

    Raises:
        tutor.inputs.drawing.DrawError: an input cannot be drawn.
    """
    asked = [*_requests(lesson)]
    references = References(lesson, asked, memory, begin, recorded=False)
    references.start()
    reached: set[tuple[int, int, str]] = set()
    possible: set[tuple[int, int, str]] = set()
    indices: dict[tuple[int, int, str], set[int]] = {}
    try:
        for request in asked:
            for one in items(references.get(request.case).tree):
                edge = _number(one, "line"), _number(one, "call"), text(entry(one, "edge"))
                drawn = request.args["fill"] is None
                if _number(one, "reached"):
                    (reached if drawn else possible).add(edge)
                elif drawn:
                    ends = {_number(one, "lowest"), _number(one, "highest")}
                    indices.setdefault(edge, set()).update(ends)
    except ReferenceFailed:
        return []  # reported with the values
    finally:
        references.close()
    varying = {edge for edge, seen in indices.items() if len(seen) > 1}
    lines = len(lesson.torch.splitlines())
    # A loop may look up a neighbour, too: what counts is whether the line as a whole gets there.
    missed = _in_lines(possible | varying) - _in_lines(reached)
    return sorted(edge for edge in missed if 1 <= edge[0] <= lines)


def _in_lines(edges: set[tuple[int, int, str]]) -> set[tuple[int, str]]:
    return {(line, edge) for line, _, edge in edges}


def _requests(lesson: Lesson) -> Iterator[Request]:
    # Trainings take long, and use what other checks ask for.
    checks = tuple(check for check in lesson.checks if not isinstance(check, HeldOut))
    short = replace(lesson, checks=checks)
    for seed in SEEDS:
        for request in requests(short, plan(short, seed)):
            first = seed == SEEDS[0] and request.case.endswith("#0")
            for fill in (None, *(FILLS if first else ())):
                args = {"inside": request.inside, "args": request.args, "fill": fill}
                case = f"{request.case} of {seed} with {fill}"
                yield Request(case, INSIDE, args, request.input_sets, request.source)


def _number(tree: Tree, key: str) -> int:
    leaf = entry(tree, key)
    assert isinstance(leaf, Leaf)
    return int(np.asarray(leaf.values))
