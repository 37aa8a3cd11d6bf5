"""Record PyTorch's answers with a pack, and compare those that are recorded already."""

from collections.abc import Callable
from pathlib import Path

from tutor.authoring.trial import Outcome
from tutor.checks.compare import compare, words
from tutor.engine import recorded
from tutor.engine.plan import case_id, plan, requests
from tutor.engine.references import ReferenceFailed, References
from tutor.inputs.functions import DrawError
from tutor.lesson import Lesson
from tutor.sandbox.process import Sandbox

TIMES = 10.0
"""Multiple of a dtype's tolerance by which two versions of PyTorch may differ, unless the check has
a tolerance of its own."""


def record(lesson: Lesson, cache: Path, begin: Callable[[], Sandbox], *, write: bool) -> Outcome:
    """Compute the answers that learners' first checks need, and compare them with those recorded;
    record them if there are none.

    **Arguments:** `cache`, `begin`: as for `References`; `write`: whether to record.

    **Returns:** an outcome that does not hold if the answers differ, or cannot be recorded.
    """
    try:
        planned = plan(lesson, recorded.SEED)
    except DrawError as error:
        return _outcome(lesson, str(error))
    asked = requests(lesson, planned)
    references = References(lesson, asked, cache, begin, recorded=False)
    references.start()
    try:
        answers = {request.case: references.get(request.case).tree for request in asked}
        before = recorded.load(lesson.recorded, references.content_key)
        if before is None or before.keys() != answers.keys():
            if write and answers:
                references.record()
            return _outcome(lesson)
    except ReferenceFailed as failure:
        return _outcome(lesson, failure.fault.message)
    except recorded.RecordingTooLarge as error:
        return _outcome(lesson, f"too large to record: {error}")
    except OSError as error:
        return _outcome(lesson, f"{lesson.recorded} was not written: {error.strerror}")
    finally:
        references.close()
    for check, cases in planned:
        for name in (case_id(check, case) for case in cases):
            if name not in answers:
                continue
            tolerance = getattr(check, "tol", None)
            mismatch = compare(before[name], answers[name], tolerance, times=TIMES)
            if mismatch is not None:
                problem = f"PyTorch now gives something else for {name}: {words(mismatch)}"
                return _outcome(lesson, f"{problem}; delete {lesson.recorded} to record it anew")
    return _outcome(lesson)


def _outcome(lesson: Lesson, problem: str = "") -> Outcome:
    return Outcome(lesson.id, "recording", "recorded answers", problem)
