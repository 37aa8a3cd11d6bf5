"""Other inputs for an answer that differs so little from PyTorch's that it may be rounding.

Some functions are badly conditioned, or not continuous, at rare inputs: a ReLU at zero, a slope
that is all rounding, which Adam scales up. There two right answers differ by more than any
tolerance that catches mistakes. But a mistake shows with other inputs as well.
"""

from collections.abc import Callable

from tutor.check import Case, Check, Finding
from tutor.checks.compare import compare
from tutor.engine.plan import case_id, redrawn, requests
from tutor.engine.references import Reference, ReferenceFailed, References, Request
from tutor.inputs.drawing import DrawError
from tutor.lesson import Lesson

NEAR = 1e-2
"""The largest scaled error (see `tutor.checks.compare`) that counts as rounding. Right answers that
failed for rare inputs had 3e-5 to 2e-4 in four lessons, 1e-3 and more where Adam scaled a gradient
up that was all rounding. Larger ones are for the lesson to avoid: mistakes are as large."""

NOTE = "for other inputs; with the first ones, rounding made a difference"


def may_be_rounding(finding: Finding) -> bool:
    """Return whether an answer is so near that its difference may be due to rounding."""
    if finding.compared is None:
        return False
    expected, actual = finding.compared
    return compare(expected, actual, NEAR) is None


class SecondDraw:
    """Draws inputs for the cases of a run anew.

    **Arguments:** `seed`: the run's; `ask`: returns where PyTorch's answers come from.
    """

    def __init__(
        self, lesson: Lesson, seed: int, ask: Callable[[list[Request]], References]
    ) -> None:
        self._lesson = lesson
        self._seed = seed
        self._ask = ask

    def draw(self, check: Check, case: Case) -> tuple[Case, Reference | None] | None:
        """Return a case with other inputs of the same sizes, and PyTorch's answer; None if there is
        no answer, as without PyTorch.

        Raises:
            tutor.sandbox.process.Cancelled: the run was cancelled.
        """
        try:
            other = redrawn(self._lesson, check, case, self._seed)
        except DrawError:
            return None
        asked = requests(self._lesson, [(check, [other])])
        if not asked:
            return other, None
        references = self._ask(asked)
        references.start()
        try:
            nan = getattr(check, "nan", True)
            return other, references.get(case_id(check, other), nan=nan, broken=check.broken)
        except ReferenceFailed:
            return None
        finally:
            references.close()
