"""From the checks of a run to their results, in order."""

from collections.abc import Iterator, Sequence

import msgspec

from tutor.check import Case, Check
from tutor.engine.judge import explained, faulty, judge, skipped, unanswered
from tutor.engine.plan import case_id
from tutor.engine.references import Reference, ReferenceFailed, References
from tutor.engine.second_draw import NOTE, SecondDraw
from tutor.engine.submission import Observation, Submission
from tutor.report import CheckResult, Timing
from tutor.sandbox.process import Failed, Lost, OnProgress
from tutor.sandbox.protocol import Answer
from tutor.tree import ABSENT, Tree, equal


class Checking:
    """The checks of one run. `submission` has imported the code.

    **Arguments:** `references`: PyTorch's answers; `second_draw`: other inputs; `on_progress`:
    called while a training runs.
    """

    def __init__(
        self,
        submission: Submission,
        references: References,
        second_draw: SecondDraw,
        on_progress: OnProgress,
    ) -> None:
        self._submission = submission
        self._lesson = submission.lesson
        self._code = submission.code
        self._references = references
        self._second_draw = second_draw
        self._on_progress = on_progress
        self._tasks: Sequence[tuple[Check, list[Case]]] = ()
        self._failed: set[str] = set()
        self.unseen: set[str] = set()
        """Checks in which the code kept from being seen what they look at."""

    def results(
        self, tasks: Sequence[tuple[Check, list[Case]]], *, all_checks: bool
    ) -> Iterator[CheckResult]:
        """Yield the results of checks in their order: see `Session.check`."""
        before: list[CheckResult] = []
        self._tasks = tasks
        self._failed.clear()
        for check, cases in tasks:
            if not all_checks and _any_wrong(before):
                result = skipped(check, "not run")
            else:
                result = _unmet(check, before) or self._result(check, cases)
            before.append(result)
            if result.status != "pass":
                self._failed.add(check.title)
            yield result

    def _result(self, check: Check, cases: list[Case]) -> CheckResult:
        """Run a check, and return its result."""
        submission = self._submission
        configuration = submission.configuration(check)
        if (fault := submission.failed.get(configuration) or submission.overtime) is not None:
            return skipped(check, f"not run: {fault.message}")
        try:
            try:
                return self._judged(check, cases)
            except Lost:  # neither the code's fault nor ours
                submission.forget_allowance(check)
                return self._judged(check, cases)
        except Failed as failure:
            submission.failed[configuration] = failure.fault
            return faulty(check, explained(failure.fault, self._code, check))

    def _judged(self, check: Check, cases: list[Case]) -> CheckResult:
        """Return the result of the first case that is not right, or else of the last."""
        timing = Timing()
        notes: tuple[str, ...] = ()
        result = CheckResult(check.title, check.kind, "pass")
        for case in cases:
            observation = self._submission.observe(check, case, self._on_progress)
            if (failed := unanswered(self._lesson, self._code, observation)) is not None:
                return failed
            reference = None
            if check.refer() is not None:
                name = case_id(check, case)
                try:
                    nan = getattr(check, "nan", True)
                    reference = self._references.get(name, nan=nan, broken=check.broken)
                except ReferenceFailed as failure:
                    return faulty(check, failure.fault)
            judged = judge(self._lesson, self._code, observation, reference)
            result = judged.result
            if result.fault is not None:
                return result
            assert isinstance(observation.reply, Answer)
            timing = _added(timing, observation.reply, reference)
            if judged.may_be_rounding and self._right_again(check, case):
                notes = (NOTE,)
                result = CheckResult(check.title, check.kind, "pass")
            if judged.unseen:
                self.unseen.add(check.title)
            if result.status == "pass" and judged.evidence is not ABSENT:
                result = self._other_value(observation, judged.evidence) or result
            if result.status != "pass":
                break
        if result.status == "pass":
            result = msgspec.structs.replace(result, notes=(*result.notes, *notes))
        return msgspec.structs.replace(result, timing=timing)

    def _other_value(self, observation: Observation, value: Tree) -> CheckResult | None:
        """Let a value check of the same expression judge what the call gave that was looked at.
        Return the failed result; None if the value is right, or there is no such check."""
        check, case = observation.check, observation.case
        if (same := self._same_call(check, case)) is None:
            return None
        other, other_case = same
        try:
            reference = self._references.get(
                case_id(other, other_case), nan=getattr(other, "nan", True), broken=other.broken
            )
        except ReferenceFailed:
            return None  # `other` says so
        observed = msgspec.structs.replace(observation, check=other, case=other_case, tree=value)
        judged = judge(self._lesson, self._code, observed, reference)
        if judged.result.status == "pass" or judged.may_be_rounding:
            return None
        message = f"the call that was looked at gives something else: {judged.result.message}"
        return msgspec.structs.replace(
            judged.result, name=check.title, kind=check.kind, message=message, wants=check.why
        )

    def _same_call(self, check: Check, case: Case) -> tuple[Check, Case] | None:
        """Return a value check of the same expression, and its case with the same inputs."""
        configuration = self._submission.configuration(check)
        for other, cases in self._tasks:
            if (
                other.kind == "value"
                and other.title not in self._failed
                and other.expression.split() == check.expression.split()
                and self._submission.configuration(other) == configuration
            ):
                for other_case in cases:
                    if all(
                        name in case.inputs and equal(tree, case.inputs[name])
                        for name, tree in other_case.inputs.items()
                    ):
                        return other, other_case
        return None

    def _right_again(self, check: Check, case: Case) -> bool:
        """Return whether the answer is right for other inputs."""
        drawn = self._second_draw.draw(check, case)
        if drawn is None:
            return False
        other, reference = drawn
        observation = self._submission.observe(check, other, self._on_progress)
        if unanswered(self._lesson, self._code, observation) is not None:
            return False
        judged = judge(self._lesson, self._code, observation, reference)
        return judged.result.status == "pass"


def _unmet(check: Check, before: list[CheckResult]) -> CheckResult | None:
    """Return the result of a check that needs another one of those `before` to pass, if that does
    not."""
    for needed in check.prerequisites:
        if any(result.name == needed and result.status != "pass" for result in before):
            return skipped(check, f"needs {needed!r} to pass first")
    return None


def _added(timing: Timing, answer: Answer, reference: Reference | None) -> Timing:
    """Return the timing of a check with one more case."""
    torch = timing.torch
    if reference is not None and reference.seconds is not None:
        torch = reference.seconds + (timing.torch or 0.0)
    return Timing(timing.compile + answer.compile, timing.run + answer.run, torch)


def _any_wrong(results: list[CheckResult]) -> bool:
    return any(result.status not in ("pass", "skipped") for result in results)
