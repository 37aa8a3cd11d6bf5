"""`run(lesson, code) -> Report`: the only way in which code is checked.

The app, `check`, `watch`, `grade` and `pack test` all call this. Data flows one way: the lesson and
a seed give a plan (`plan`); the learner's code answers it in its sandboxes (`submission`), the
lesson's PyTorch in another (`references`); `judge` compares both with NumPy, in this process; and
the results become a report.
"""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import msgspec

from tutor import requirements
from tutor.check import Case, Check
from tutor.engine.ahead import AheadAnswers
from tutor.engine.checking import Checking
from tutor.engine.judge import explained, skipped
from tutor.engine.looks import looks
from tutor.engine.plan import Plan, plan, race_request, requests
from tutor.engine.race import race
from tutor.engine.references import References, Request
from tutor.engine.sandboxes import Cancel, FreshSandboxes, Sandboxes
from tutor.engine.second_draw import SecondDraw
from tutor.engine.submission import LoadedSandbox, Submission, source_fault
from tutor.engine.versions import installed_versions, torch_installed
from tutor.inputs.data_files import BadData
from tutor.inputs.drawing import DRAWING, DrawError
from tutor.lesson import Lesson
from tutor.report import SKIPPED, CheckResult, Fault, Look, Report, Timings, verdict_of
from tutor.sandbox.process import Failed, OnProgress, Sandbox
from tutor.sandbox.protocol import Ready
from tutor.storage import paths

_logger = logging.getLogger(__name__)

OnResult = Callable[[CheckResult], None]


def run(
    lesson: Lesson,
    code: str,
    *,
    seed: int = 0,
    on_result: OnResult | None = None,
    cancel: Cancel | None = None,
    sandboxes: Sandboxes | None = None,
) -> Report:
    """Check `code` against a lesson.

    **Arguments:** `seed` fixes the hidden inputs; `on_result` is called with each result as it
    comes, in this thread; `cancel` stops the run; `sandboxes`: where they come from.

    **Returns:** the report, whatever the learner's code does; how long that may take is in
    `tutor.sandbox.allowance`.

    Raises:
        tutor.sandbox.process.Cancelled: `cancel.cancel()` was called.
    """
    with Session(lesson, code, cancel=cancel, sandboxes=sandboxes) as session:
        return session.add_race(session.check(seed, on_result))


class Session:
    """One submission, checked under one seed or several without importing it anew.

        with Session(lesson, code) as session:
            reports = [session.check(seed) for seed in range(20)]

    **Arguments:** `reference_cache`: the directory for PyTorch's answers; `sandboxes`: where they
    come from; `recorded`: whether PyTorch's answers may be those recorded with the pack.
    """

    def __init__(
        self,
        lesson: Lesson,
        code: str,
        *,
        cancel: Cancel | None = None,
        reference_cache: Path | None = None,
        sandboxes: Sandboxes | None = None,
        recorded: bool = True,
    ) -> None:
        self.lesson = lesson
        self.code = code
        self.cancel = cancel or Cancel()
        self._reference_cache = reference_cache or paths.cache() / "references"
        self._sandboxes = sandboxes or FreshSandboxes()
        self._submission = Submission(
            lesson, code, self._sandboxes, self.cancel,
            AheadAnswers(lesson, self._reference_cache),
        )  # fmt: skip
        self._recorded = recorded
        self._planned: Plan = []
        self._references: References | None = None
        self._unseen: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._close_references()
        self._submission.close()

    def check(
        self,
        seed: int = 0,
        on_result: OnResult | None = None,
        on_miss: Callable[[], None] | None = None,
        on_progress: OnProgress = lambda progress: None,
        *,
        all_checks: bool = True,
        choose: Callable[[Check, list[Case]], list[Case]] = lambda check, cases: cases,
    ) -> Report:
        """Check under one seed, as `run` does but without the race.

        **Arguments:** `on_result` is called with a failure as soon as it is known, and with other
        results in their order; `on_miss` if PyTorch's answers are not cached, so that they take a
        second or more; `on_progress` while a training runs; `all_checks`: whether to go on with the
        checks after one that does not pass; `choose` returns those cases of a check to try. Checks
        without any are not reported, and count as passed where others need them.
        """
        began = time.perf_counter()
        self._close_references()
        self._submission.begin_run()
        self._unseen.clear()
        results: list[CheckResult] = []
        fault: Fault | None = None
        seconds = 0.0
        try:
            references = self._prepare(seed, on_miss)
            started = time.perf_counter()
            tasks = [
                (check, chosen)
                for check, cases in self._planned
                if (chosen := choose(check, cases))
            ]
            second = SecondDraw(self.lesson, seed, self._ask_torch)
            checking = Checking(self._submission, references, second, on_progress)
            self._unseen = checking.unseen
            for result in checking.results(tasks, all_checks=all_checks):
                results.append(result)
                if on_result is not None:
                    on_result(result)
            seconds = time.perf_counter() - started
        except Failed as failure:
            fault = explained(failure.fault, self.code)
            # They belong in the report, but are not worth an event each.
            done = {result.name for result in results}
            results += [
                skipped(check, "not run") for check in self.lesson.checks if check.title not in done
            ]
        except BaseException:  # Ctrl-C too must not leave a sandbox running
            self._abandon()
            raise
        order = {check.title: number for number, check in enumerate(self.lesson.checks)}
        results.sort(key=lambda result: order[result.name])
        report = self._report(seed, results, fault, seconds, began)
        _log(report)
        return report

    def add_race(self, report: Report) -> Report:
        """Return the report of the last check, here or in another session with this code, with the
        time that the translation takes and that of the original if it was a pass. Takes about half
        a second.

        Raises:
            tutor.sandbox.process.Cancelled: see `run`.
        """
        if report.verdict != "pass" or not torch_installed():
            return report
        self._planned = self._planned or plan(self.lesson, report.seed)
        request = race_request(self.lesson, self._planned)
        if request is None:
            return report
        self._close_references()
        self._references = self._ask_torch([request])
        self._references.start()
        try:
            times = race(self.lesson, self._submission, self._planned, self._references)
        except BaseException:  # as in `run`
            self._abandon()
            raise
        timings = msgspec.structs.replace(report.timings, race=times)
        return msgspec.structs.replace(report, timings=timings)

    @property
    def main_sandbox(self) -> LoadedSandbox | None:
        """The sandbox of the lesson's ordinary checks, if it was started."""
        return self._submission.main

    def peak_mb(self) -> int | None:
        """Return the peak memory of the largest sandbox in MiB; None where it is unknown."""
        return self._submission.peak_mb()

    def _prepare(self, seed: int, on_miss: Callable[[], None] | None) -> References:
        """Plan, start asking PyTorch, and wait for the learner's code to be imported.

        Raises:
            Failed: a fault keeps every check from being run.
        """
        if missing := requirements.unmet(self.lesson.requires):
            raise Failed(Fault(SKIPPED, missing))
        if (fault := source_fault(self.code)) is not None:
            raise Failed(fault)
        # Start the process first, since it takes longest; plan while it starts.
        main = self._submission.configuration()
        self._submission.start(main)
        try:
            self._planned = plan(self.lesson, seed)
        except DrawError as error:
            part = error.part.removeprefix(DRAWING).partition(" of ")[0]
            drawn = part and not isinstance(error, BadData)
            what = f"an input cannot be drawn: {part}: {error}" if drawn else str(error)
            what = f"lesson {self.lesson.id} is broken: {what}"
            raise Failed(Fault("broken-pack", what, running=error.part)) from None
        references = self._ask_torch(requests(self.lesson, self._planned))
        self._references = references
        references.start()
        if on_miss is not None and not references.cached:
            on_miss()
        self._submission.load(main)
        return references

    def _ask_torch(self, asked: list[Request]) -> References:
        return References(
            self.lesson, asked, self._reference_cache, self._reference_sandbox,
            recorded=self._recorded,
        )  # fmt: skip

    def _reference_sandbox(self) -> Sandbox:
        """Start a sandbox for PyTorch, which a cancelled run ends as well."""
        sandbox = self._sandboxes.reference()
        self.cancel.watch(sandbox)
        return sandbox

    def _report(
        self,
        seed: int,
        results: list[CheckResult],
        fault: Fault | None,
        checking: float,
        began: float,
    ) -> Report:
        stdout, stderr = self._submission.output()
        main = self._submission.main
        ready = main.ready if main is not None else None
        return Report(
            lesson=self.lesson.id,
            verdict=verdict_of(tuple(results), fault),
            checks=tuple(results),
            stdout=stdout,
            stderr=stderr,
            fault=fault,
            timings=Timings(
                start=main.start_seconds if main else 0.0,
                load=main.load_seconds if main else 0.0,
                checks=checking,
                reference=self._references.waited if self._references else 0.0,
                total=time.perf_counter() - began,
                processor=self._submission.processor_seconds,
            ),
            versions={
                **installed_versions(),
                **requirements.versions(self.lesson.requires),
                **(ready.versions if ready else {}),
            },
            seed=seed,
            devices=_devices(ready) if ready else "",
            isolation=tuple(main.sandbox.protections) if main else (),
            looks=(
                *(Look(0, "evidence", title) for title in sorted(self._unseen)),
                *looks(self.code, self._submission.noticed),
            ),
        )

    def _close_references(self) -> None:
        if self._references is not None:
            self._references.close()
            self._references = None

    def _abandon(self) -> None:
        """End everything after Ctrl-C or a cancelled run; the run no longer needs PyTorch."""
        self.cancel.cancel()
        self._close_references()


def _log(report: Report) -> None:
    faults = [report.fault, *(check.fault for check in report.checks)]
    codes = sorted({fault.code for fault in faults if fault is not None})
    timings = msgspec.structs.asdict(report.timings)
    seconds = [f"{name} {value:.2f} s" for name, value in timings.items() if name != "race"]
    _logger.info(
        "%s, seed %d: %s, faults: %s; %s", report.lesson, report.seed, report.verdict,
        ", ".join(codes) or "none", ", ".join(seconds),
    )  # fmt: skip


def _devices(ready: Ready) -> str:
    """Return the devices in words, as in `4 simulated CPU devices`."""
    simulated = "simulated " if ready.platform == "cpu" and ready.devices > 1 else ""
    plural = "device" if ready.devices == 1 else "devices"
    return f"{ready.devices} {simulated}{ready.platform.upper()} {plural}"
