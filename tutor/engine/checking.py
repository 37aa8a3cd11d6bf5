"""From the checks of a run to their results, in order."""

from collections.abc import Iterator, Sequence

import msgspec

from tutor.check import Case, Check
from tutor.engine.judge import explained, faulty, judge, skipped, unanswered
from tutor.engine.plan import Configuration, case_id
from tutor.engine.references import Reference, ReferenceFailed, References
from tutor.engine.second_draw import NOTE, SecondDraw
from tutor.engine.submission import Observation, Submission
from tutor.report import CheckResult, Fault, Timing
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
        self._trials: list[_Trial] = []
        self._renewed: set[Configuration] = set()
        self.unseen: set[str] = set()
        """Checks in which the code kept from being seen what they look at."""

    def results(
        self, tasks: Sequence[tuple[Check, list[Case]]], *, all_checks: bool
    ) -> Iterator[CheckResult]:
        """Yield the result of each check: failures when they are known, the others in their order.
        See `Session.check`.

        The first case of every check is tried before the second of any, for a mistake mostly shows
        in the first case of its check.
        """
        self._trials = [_Trial(check, cases) for check, cases in tasks]
        self._renewed.clear()
        told = 0
        for turn in range(max((len(cases) for _, cases in tasks), default=0)):
            for number, trial in enumerate(self._trials):
                if trial.result is None:
                    before = self._trials[:number]
                    trial.result = self._kept_from(trial, before, all_checks=all_checks)
                    if trial.result is None:
                        yield from self._try(trial, trial.cases[turn])
                for other in self._trials[told:]:
                    if other.result is None:
                        break
                    if not other.failed:
                        # What it needs may have failed after it had passed.
                        other.result = _unmet(other.check, self._trials[:told]) or other.result
                        yield other.result
                    told += 1

    def _kept_from(
        self, trial: "_Trial", before: Sequence["_Trial"], *, all_checks: bool
    ) -> CheckResult | None:
        """Return the result of a check that is not tried, or no longer; None if it goes on."""
        if not all_checks and any(one.failed for one in before):
            return skipped(trial.check, "not run")
        if (unmet := _unmet(trial.check, before)) is not None:
            return unmet
        configuration = self._submission.configuration(trial.check)
        failed = self._submission.failed.get(configuration) or self._submission.overtime
        return skipped(trial.check, f"not run: {failed.message}") if failed is not None else None

    def _try(self, trial: "_Trial", case: Case) -> Iterator[CheckResult]:
        """Try a case of a check, and yield the check's result if it fails."""
        submission = self._submission
        try:
            try:
                self._judge(trial, case)
            except Lost:  # neither the code's fault nor ours
                submission.renew(trial.check)
                self._judge(trial, case)
        except Failed as failure:
            trial.result = faulty(trial.check, explained(failure.fault, self._code, trial.check))
            self._ended(trial, failure.fault)
        if trial.result is not None and trial.failed:
            yield trial.result

    def _ended(self, trial: "_Trial", fault: Fault) -> None:
        """Go on after the end of a sandbox. Checks before this one may be right, but have not been
        tried in all cases: they get a new sandbox, once."""
        configuration = self._submission.configuration(trial.check)
        self._submission.failed[configuration] = fault
        if configuration in self._renewed:
            return
        self._renewed.add(configuration)
        for other in self._trials[self._trials.index(trial) :]:
            if other.result is None:
                other.result = self._kept_from(other, (), all_checks=True)
        self._submission.renew(trial.check)

    def _judge(self, trial: "_Trial", case: Case) -> None:
        """Add what a case shows to the trial of its check.

        Raises:
            Failed: the sandbox has ended.
        """
        check = trial.check
        observation = self._submission.observe(check, case, self._on_progress)
        if (failed := unanswered(self._lesson, self._code, observation)) is not None:
            trial.result = failed
            return
        reference = None
        if check.refer() is not None:
            try:
                reference = self._reference(check, case)
            except ReferenceFailed as failure:
                trial.result = faulty(check, failure.fault)
                return
        judged = judge(self._lesson, self._code, observation, reference)
        result = judged.result
        if result.fault is not None:
            trial.result = result
            return
        assert isinstance(observation.reply, Answer)
        trial.timing = _added(trial.timing, observation.reply, reference)
        if judged.may_be_rounding and self._right_again(check, case):
            trial.notes = (NOTE,)
            result = CheckResult(check.title, check.kind, "pass")
        if judged.unseen:
            self.unseen.add(check.title)
        if result.status == "pass" and judged.evidence is not ABSENT:
            result = self._other_value(observation, judged.evidence) or result
        trial.add(result)

    def _reference(self, check: Check, case: Case) -> Reference:
        """Return PyTorch's answer. Raises: ReferenceFailed."""
        nan = getattr(check, "nan", True)
        return self._references.get(case_id(check, case), nan=nan, broken=check.broken)

    def _other_value(self, observation: Observation, value: Tree) -> CheckResult | None:
        """Let a value check of the same expression judge what the call gave that was looked at.

        **Returns:** the failed result; None if that check passes, or if there is none.
        """
        check, case = observation.check, observation.case
        if (same := self._same_call(check, case)) is None:
            return None
        other, other_case = same
        try:
            reference = self._reference(other, other_case)
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
        for trial in self._trials:
            other = trial.check
            if (
                other.kind == "value"
                and not trial.failed
                and other.expression.split() == check.expression.split()
                and self._submission.configuration(other) == configuration
            ):
                for other_case in trial.cases:
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


class _Trial:
    """A check of a run, and what its cases have shown so far. `result`: None until the check is
    decided."""

    def __init__(self, check: Check, cases: list[Case]) -> None:
        self.check = check
        self.cases = cases
        self.result: CheckResult | None = None
        self.timing = Timing()
        self.notes: tuple[str, ...] = ()
        self._passed = 0

    @property
    def failed(self) -> bool:
        return self.result is not None and self.result.status not in ("pass", "skipped")

    def add(self, result: CheckResult) -> None:
        """Add the result of a case: the first that is not right decides, or else the last."""
        passed = result.status == "pass"
        self._passed += passed
        if passed and self._passed < len(self.cases):
            return
        notes = (*result.notes, *self.notes) if passed else result.notes
        self.result = msgspec.structs.replace(result, notes=notes, timing=self.timing)


def _unmet(check: Check, before: Sequence[_Trial]) -> CheckResult | None:
    """Return the result of a check that needs another one of those `before` to pass, if that does
    not."""
    for needed in check.prerequisites:
        for other in before:
            if other.check.title == needed and other.result and other.result.status != "pass":
                return skipped(check, f"needs {needed!r} to pass first")
    return None


def _added(timing: Timing, answer: Answer, reference: Reference | None) -> Timing:
    """Return the timing of a check with one more case."""
    torch = timing.torch
    if reference is not None and reference.seconds is not None:
        torch = reference.seconds + (timing.torch or 0.0)
    return Timing(timing.compile + answer.compile, timing.run + answer.run, torch)
