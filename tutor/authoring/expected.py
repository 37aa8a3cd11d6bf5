"""Remarks on expected values: some that any answer would meet, sizes that are never 1, and edges
that are never reached.

These run the pack's PyTorch in a sandbox, and cache its answers; lint rules run nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from tutor.authoring.edges import remarks_on_edges
from tutor.authoring.lint_rules_on_inputs import sizes_never_one
from tutor.authoring.page import NodeRemark
from tutor.check import Check
from tutor.checks.compare import tolerance_for
from tutor.checks.scale import hides
from tutor.checks.value import Value
from tutor.engine.plan import case_id, plan, requests
from tutor.engine.references import ReferenceFailed, References
from tutor.expressions import free_names, texts
from tutor.inputs.drawing import DrawError
from tutor.lesson import Lesson
from tutor.sandbox.process import Sandbox
from tutor.tree import Tree, leaves

SEEDS = (0, 1)
"""Inputs are drawn under each of these."""


def remarks_on_expected(
    lesson: Lesson, memory: Path, begin: Callable[[], Sandbox], *, failures: bool = False
) -> Iterator[NodeRemark]:
    """Yield all remarks on a lesson.

    **Arguments:** `memory`: the cache of PyTorch's answers; `begin`: starts a sandbox for it;
    `failures`: whether to remark that PyTorch gives no answers, which trials report, too.
    """
    try:
        values = _values(lesson, SEEDS, memory, begin)
    except DrawError:
        return  # a lint rule of its own
    except ReferenceFailed as failure:
        if failures and failure.fault.code == "broken-pack":
            remedy = "mend `torch` or `harness`, or what the check asks of them"
            yield NodeRemark(("torch",), "no-reference", failure.fault.message, remedy)
        return
    for name in sizes_never_one(lesson):
        yield from _never_one(name, lesson, memory, begin)
    for number, check in enumerate(lesson.checks):
        if check.title in values:
            yield from _of_check(number, check, lesson, values[check.title])
    yield from remarks_on_edges(lesson, memory, begin)


def _never_one(
    name: str, lesson: Lesson, memory: Path, begin: Callable[[], Sandbox]
) -> Iterator[NodeRemark]:
    """An answer that squeezes, or broadcasts by accident, passes if no axis ever has length 1."""
    checks = tuple(one for one in lesson.checks if isinstance(one, Value) and not one.evidence)
    short = replace(lesson, sizes={**lesson.sizes, name: 1}, checks=checks)
    try:
        values = _values(short, SEEDS[:1], memory, begin)
    except (ReferenceFailed, DrawError):
        return  # such as the standard deviation of one number
    found = [leaf.values for one in values.values() for tree in one for _, leaf in leaves(tree)]
    if not any(one.dtype.kind in "fc" and np.isnan(one).any() for one in found):
        candidates = lesson.sizes[name]
        listed = [*candidates, 1] if isinstance(candidates, tuple) else [candidates, 1]
        message, remedy = f"the size {name!r} is never 1", f"add it: {name}: {listed}"
        yield NodeRemark(("sizes", name), "never-one", message, remedy)


def _values(
    lesson: Lesson, seeds: Sequence[int], memory: Path, begin: Callable[[], Sandbox]
) -> dict[str, list[Tree]]:
    """Return the values that each check expects, case by case."""
    found: dict[str, list[Tree]] = {}
    for seed in seeds:
        planned = plan(lesson, seed)
        references = References(lesson, requests(lesson, planned), memory, begin, recorded=False)
        references.start()
        try:
            for check, cases in planned:
                if check.refer() is not None:
                    nan = getattr(check, "nan", True)
                    trees = [
                        references.get(case_id(check, one), nan=nan, broken=check.broken).tree
                        for one in cases
                    ]
                    found.setdefault(check.title, []).extend(trees)
        finally:
            references.close()
    return found


def _of_check(
    number: int, check: Check, lesson: Lesson, values: list[Tree]
) -> Iterator[NodeRemark]:
    if isinstance(check, Value) and check.evidence:
        return
    arrays = [leaf for value in values for _, leaf in leaves(value) if leaf.array is not None]
    numbers = [leaf for leaf in arrays if leaf.values.dtype.kind in "fcV" and leaf.values.size]
    if check.kind == "grad" and arrays and not any(leaf.values.any() for leaf in arrays):
        yield NodeRemark(
            ("checks", number),
            "zero-gradient",
            f"the gradient that {check.title!r} expects is zero for all inputs",
            "differentiate something that depends on its argument",
        )
    elif _depends(check, lesson) and len(values) > 1 and _all_alike(values):
        yield NodeRemark(
            ("checks", number),
            "constant-reference",
            f"{check.title!r} expects the same for all inputs",
            "make it depend on them; otherwise a constant passes",
        )
    worst = 0.0
    for leaf in numbers:
        tolerance = getattr(check, "tol", None) or tolerance_for(leaf)
        size = np.abs(leaf.values.astype(np.complex128))
        worst = max(worst, hides(size, tolerance))
    if worst:
        yield NodeRemark(
            ("checks", number),
            "hidden-by-large",
            f"most numbers that {check.title!r} expects are smaller than the error allowed for the "
            "largest, so wrong ones pass",
            "check the large ones separately, or scale them down",
        )


def _depends(check: Check, lesson: Lesson) -> bool:
    """Return whether the expected value uses drawn inputs."""
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
