"""Remarks on what the PyTorch gives: expectations that any answer would meet.

Unlike other remarks these run the pack's PyTorch, in a sandbox of its own; its answers are kept.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct

from tutor.checks.compare import tolerance_for
from tutor.checks.scale import hides
from tutor.checks.value import Value
from tutor.expressions import free_names, texts
from tutor.inputs import DrawError
from tutor.lesson import Check, Lesson
from tutor.planning import case_id, plan, requests
from tutor.references import ReferenceFailed, References
from tutor.sandbox.process import Sandbox
from tutor.tree import Tree, leaves

SEEDS = (0, 1)
"""Under which inputs are drawn."""


class Expected(Struct, frozen=True):
    """A remark on a check, by its number. `code` is that of remarks on packs."""

    check: int
    code: str
    message: str
    remedy: str


def remarks_on_expected(
    lesson: Lesson, memory: Path, begin: Callable[[], Sandbox]
) -> Iterator[Expected]:
    """All of a lesson. Where the PyTorch fails there are none, for then its trials tell.

    **Arguments:** `memory`: where PyTorch's answers are kept; `begin`: starts a sandbox for it.
    """
    try:
        values = _values(lesson, memory, begin)
    except (ReferenceFailed, DrawError):
        return
    for number, check in enumerate(lesson.checks):
        if check.title in values:
            yield from _of_check(number, check, lesson, values[check.title])


def _values(lesson: Lesson, memory: Path, begin: Callable[[], Sandbox]) -> dict[str, list[Tree]]:
    """What is expected of each check, case by case."""
    found: dict[str, list[Tree]] = {}
    for seed in SEEDS:
        planned = plan(lesson, seed)
        references = References(lesson, requests(lesson, planned), memory, begin)
        references.start()
        try:
            for check, cases in planned:
                if check.refer() is not None:
                    trees = [references.get(case_id(check, case)).tree for case in cases]
                    found.setdefault(check.title, []).extend(trees)
        finally:
            references.close()
    return found


def _of_check(number: int, check: Check, lesson: Lesson, values: list[Tree]) -> Iterator[Expected]:
    if isinstance(check, Value) and check.evidence:
        return
    arrays = [leaf for value in values for _, leaf in leaves(value) if leaf.array is not None]
    numbers = [leaf for leaf in arrays if leaf.values.dtype.kind in "fcV" and leaf.values.size]
    if check.kind == "grad" and arrays and not any(leaf.values.any() for leaf in arrays):
        yield Expected(
            number,
            "zero-gradient",
            f"the gradient that {check.title!r} expects is zero for all inputs",
            "differentiate something that depends on its argument",
        )
    elif _depends(check, lesson) and len(values) > 1 and _all_alike(values):
        yield Expected(
            number,
            "constant-reference",
            f"what {check.title!r} expects is the same for all inputs",
            "let it depend on them, or a constant passes for it",
        )
    worst = 0.0
    for leaf in numbers:
        tolerance = getattr(check, "tol", None) or tolerance_for(leaf)
        size = np.abs(leaf.values.astype(np.complex128))
        worst = max(worst, hides(size, tolerance))
    if worst:
        yield Expected(
            number,
            "hidden-by-large",
            f"beside the largest numbers that {check.title!r} expects, most are smaller than the "
            "error that is allowed, so nothing holds an answer to them",
            "check them apart, or scale them down",
        )


def _depends(check: Check, lesson: Lesson) -> bool:
    """Whether the PyTorch is asked about drawn inputs."""
    used = {name for text in texts(check.refer() or {}) for name in free_names(text)}
    return bool(used & ({*lesson.inputs, *check.inputs}))


def _all_alike(values: list[Tree]) -> bool:
    first = dict(leaves(values[0]))
    for value in values[1:]:
        other = dict(leaves(value))
        if first.keys() != other.keys():
            return False
        if any(
            leaf.array is None or not np.array_equal(leaf.array, other[path].values)
            for path, leaf in first.items()
        ):
            return False
    return bool(first)
