"""The race after a pass: how long the translation takes, and how long the PyTorch original."""

from math import isfinite

from tutor.engine.plan import RACE, Plan, raced_case
from tutor.engine.references import ReferenceFailed, References
from tutor.engine.submission import Submission
from tutor.lesson import Lesson
from tutor.report import Race
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Failed
from tutor.sandbox.protocol import Answer, Observe
from tutor.tree import TreeError, entry, real

SECONDS = 10.0
"""Processor time that a race may take; it usually takes about half a second."""


def race(
    lesson: Lesson, submission: Submission, planned: Plan, references: References
) -> Race | None:
    """Return both sides' times, or None if there is nothing to time or a side did not finish: no
    verdict depends on it.

    Raises:
        tutor.sandbox.process.Cancelled: the run was cancelled.
    """
    if (case := raced_case(lesson, planned)) is None:
        return None
    check, inputs = case
    try:
        # First, so that the two do not compete for the processor.
        torch = references.get("race").seconds
        if torch is None:
            return None
        loaded = submission.load(submission.configuration())
        request = Observe("race", RACE, check.observe())
        reply, times = loaded.ask(request, [*inputs.input_sets], Allowance(SECONDS), "the timing")
        if not isinstance(reply, Answer):
            return None
        first, warm = real(entry(times, "first")), real(entry(times, "warm"))
        if not (isfinite(first) and isfinite(warm)):
            return None
        return Race(check.expression, first, warm, torch)
    except (Failed, TreeError, ReferenceFailed):
        return None
