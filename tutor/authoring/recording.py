"""Record PyTorch's answers with a pack, and compare those that are recorded already."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tutor.check import Case, Check
from tutor.checks.compare import compare, words
from tutor.engine import recorded
from tutor.engine.plan import case_id, plan, requests
from tutor.engine.references import ReferenceFailed, References
from tutor.inputs.drawing import DrawError
from tutor.lesson import Lesson
from tutor.sandbox.process import Sandbox
from tutor.tree import Tree

TIMES = 10.0
"""Multiple of a dtype's tolerance by which two versions of PyTorch may differ, unless the check has
a tolerance of its own."""


class Recording(Struct, frozen=True):
    """What became of a lesson's recording. `problem`: empty, or why the answers were not recorded
    or differ from those that are; `written`: whether they were recorded now."""

    problem: str = ""
    written: bool = False


def record(
    lesson: Lesson,
    cache: Path,
    begin: Callable[[], Sandbox],
    *,
    write: bool = True,
    again: bool = False,
) -> Recording:
    """Record the answers that learners' first checks need, unless they are recorded already.

    **Arguments:** `cache`, `begin`: as for `References`; `write`: whether to record; `again`:
    whether to compute answers that are recorded, too, and compare.
    """
    try:
        planned = plan(lesson, recorded.SEED)
    except DrawError as error:
        return Recording(str(error))
    asked = requests(lesson, planned)
    references = References(lesson, asked, cache, begin, recorded=False)
    before = recorded.load(lesson.recorded, references.content_key)
    if before is not None and before.keys() != {request.case for request in asked}:
        before = None
    if not asked or (before is not None and not again):
        return Recording()
    references.start()
    try:
        answers = {request.case: references.get(request.case).tree for request in asked}
        if before is None:
            if write:
                references.record()
            return Recording(written=write)
    except ReferenceFailed as failure:
        return Recording(failure.fault.message)
    except recorded.RecordingTooLarge as error:
        return Recording(f"too large to record: {error}")
    except OSError as error:
        return Recording(f"{lesson.recorded} was not written: {error.strerror}")
    finally:
        references.close()
    return Recording(_difference(lesson, planned, before, answers))


def _difference(
    lesson: Lesson,
    planned: Sequence[tuple[Check, Sequence[Case]]],
    before: Mapping[str, Tree],
    answers: Mapping[str, Tree],
) -> str:
    """Return how the answers differ from those recorded; empty if they do not."""
    for check, cases in planned:
        for name in (case_id(check, case) for case in cases):
            if name not in answers:
                continue
            tolerance = getattr(check, "tol", None)
            mismatch = compare(
                check.compared(before[name]), check.compared(answers[name]), tolerance, times=TIMES
            )
            if mismatch is not None:
                problem = f"PyTorch now gives something else for {name}: {words(mismatch)}"
                return f"{problem}; delete {lesson.recorded} to record it anew"
    return ""
