"""One submission under one seed: every check asked, judged and reported."""

import re
import time
from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING

import msgspec

from tutor import __version__
from tutor.check import Case, Check, Finding
from tutor.explain import Symptom, explain, of_fault, of_finding
from tutor.expressions import result_names
from tutor.inputs.functions import DrawError
from tutor.plain_text import inert
from tutor.report import (
    CheckResult,
    Explanation,
    Fault,
    Protection,
    Race,
    Report,
    Status,
    Timing,
    Timings,
    verdict_of,
)
from tutor.run.plan import RACE, Configuration, Plan, case_id, plan, requests, timed, used_inputs
from tutor.run.references import Reference, ReferenceFailed, References
from tutor.sandbox import faults
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Failed, Lost
from tutor.sandbox.protocol import Answer, Observe, Raised, Reply
from tutor.tree import Tree, TreeError, brief, entry, real

if TYPE_CHECKING:
    from tutor.run.session import LoadedSandbox, OnResult, Session

RACE_SECONDS = 10.0
"""Processor time of the timing after a pass, at most; it takes about half a second."""


class Round:
    """See `tutor.run.session.Session.check`."""

    def __init__(
        self,
        session: "Session",
        seed: int,
        on_result: "OnResult | None",
        on_miss: Callable[[], None] | None,
        *,
        all_checks: bool,
    ) -> None:
        self.on_miss = on_miss
        self._all_checks = all_checks
        self.session = session
        self.lesson = session.lesson
        self.seed = seed
        self.on_result = on_result
        self.results: list[CheckResult] = []
        self._planned: Plan = []
        self._references: References | None = None
        self._allowances: dict[Configuration, Allowance] = {}
        self._broken: dict[Configuration, Fault] = {}

    def report(self) -> Report:
        began = time.perf_counter()
        fault: Fault | None = None
        checking = 0.0
        try:
            if bad := self.session.source_fault():
                raise Failed(bad)
            # First the process that takes longest to come up; then plan while it does.
            self.session.bench(self.session.place())
            self._planned = self._plan()
            self._references = References(
                self.lesson,
                requests(self.lesson, self._planned),
                self.session.memory,
                self.session.reference,
            )
            self._references.start()
            if self.on_miss is not None and not self._references.remembered:
                self.on_miss()
            self._bench(self.session.place())
            started = time.perf_counter()
            for check, cases in self._planned:
                if self._all_checks or not self._wrong():
                    self._tell(self._checked(check, cases, self._references))
                else:
                    self._tell(_skipped(check, "not run"))
            checking = time.perf_counter() - started
        except Failed as failure:
            fault = self._fault(failure.fault)
            # In the report, but not worth telling one by one.
            rest = self.lesson.checks[len(self.results) :]
            self.results += [_skipped(check, "not run") for check in rest]
        except BaseException:
            self._abandon()
            raise
        output = self.session.output()
        results = tuple(self.results)
        bench = self.session.main_bench
        return Report(
            lesson=self.lesson.id,
            verdict=verdict_of(results, fault),
            checks=results,
            stdout=output[0],
            stderr=output[1],
            fault=fault,
            timings=Timings(
                start=bench.start_seconds if bench else 0.0,
                load=bench.load_seconds if bench else 0.0,
                checks=checking,
                reference=self._references.waited if self._references else 0.0,
                total=time.perf_counter() - began,
                processor=max((one.spent for one in self._allowances.values()), default=0.0),
            ),
            versions=_versions(bench),
            seed=self.seed,
            devices=_devices(bench),
            isolation=_isolation(bench),
        )

    def timed(self, report: Report) -> Report:
        """See `tutor.run.session.Session.timed`."""
        if report.verdict != "pass" or self._references is None:
            return report
        try:
            race = self._race(self._planned, self._references)
        except BaseException:
            self._abandon()
            raise
        return msgspec.structs.replace(
            report, timings=msgspec.structs.replace(report.timings, race=race)
        )

    def close(self) -> None:
        if self._references is not None:
            self._references.close()

    def _abandon(self) -> None:
        """Ctrl-C, or a cancelled run: nobody waits for PyTorch then."""
        self.session.cancel.cancel()
        self.close()

    def _plan(self) -> Plan:
        try:
            return plan(self.lesson, self.seed)
        except DrawError as error:
            fault = Fault("broken-pack", f"lesson {self.lesson.id}: an input: {error}")
            raise Failed(fault) from None

    def _bench(self, place: Configuration) -> "LoadedSandbox":
        """A sandbox with the learner's module in it, and the time that it has."""
        if place in self._allowances:
            return self.session.bench(place)
        try:
            return self._loaded(place)
        except Lost:  # nobody's fault, so once more
            return self._loaded(place)

    def _loaded(self, place: Configuration) -> "LoadedSandbox":
        bench = self.session.bench(place)
        allowance = self._allowances[place] = bench.allowance()
        bench.load(allowance)
        return bench

    def _overtime(self) -> Fault | None:
        """What has cost all the time that one sandbox has: no other is given as much again."""
        found = (fault for fault in self._broken.values() if fault.code in faults.OVERTIME)
        return next(found, None)

    def _wrong(self) -> bool:
        return any(result.status not in ("pass", "skipped") for result in self.results)

    def _tell(self, result: CheckResult) -> None:
        self.results.append(result)
        if self.on_result is not None:
            self.on_result(result)

    # --- one check ---------------------------------------------------------------------------

    def _checked(self, check: Check, cases: list[Case], references: References) -> CheckResult:
        for needed in check.needed:
            if not any(r.name == needed and r.status == "pass" for r in self.results):
                return _skipped(check, f"needs {needed!r} to pass first")
        place = self.session.place(check)
        if (broken := self._broken.get(place) or self._overtime()) is not None:
            return _skipped(check, f"not run: {broken.message}")
        try:
            try:
                return self._cases(check, cases, place, references)
            except Lost:  # nobody's fault, so once more
                del self._allowances[place]
                return self._cases(check, cases, place, references)
        except Failed as failure:
            self._broken[place] = failure.fault
            return _faulty(check, self._fault(failure.fault, check))

    def _cases(
        self, check: Check, cases: list[Case], place: Configuration, references: References
    ) -> CheckResult:
        bench = self._bench(place)
        timing = Timing()
        note = ""
        earlier: list[Tree] = []
        for case in cases:
            result, timing, note = self._tried(
                check, case, bench, self._allowances[place], references, timing, earlier
            )
            if result is not None:
                return result
        notes = (note,) if note else ()
        return CheckResult(check.title, check.kind, "pass", notes=notes, timing=timing)

    def _tried(
        self,
        check: Check,
        case: Case,
        bench: "LoadedSandbox",
        allowance: Allowance,
        references: References,
        timing: Timing,
        earlier: list[Tree],
    ) -> tuple[CheckResult | None, Timing, str]:
        """One case: what is wrong with it (or None), the time so far, and what to praise."""
        told = self._inputs_told(check, case)
        observe = Observe(case_id(check, case), check.inside, check.observe())
        reply, seen = self._ask(bench, observe, case, allowance, _running(check))
        if isinstance(reply, Raised):
            fault = self._fault(faults.from_raised(reply, self.session.code), check)
            return _faulty(check, fault, told), timing, ""
        if not isinstance(reply, Answer):
            return _faulty(check, faults.unsaid(reply, _running(check)), told), timing, ""
        reference: Reference | None = None
        if check.refer() is not None:
            try:
                reference = references.get(observe.case, nan=getattr(check, "nan", True))
            except ReferenceFailed as failure:
                return _faulty(check, failure.fault), timing, ""
        timing = Timing(
            timing.compile + reply.compile,
            timing.run + reply.run,
            reference.seconds + (timing.torch or 0.0) if reference else timing.torch,
        )
        try:
            finding = check.judge(seen, reference.tree if reference else None, case)
            note = check.note(seen, case) if finding is None else ""
        except TreeError as error:
            return _faulty(check, faults.malformed(str(error), _running(check)), told), timing, ""
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not the learner's fault
            what = f"judging {check.title}: {type(error).__name__}: {error}"
            return _faulty(check, Fault("internal", what)), timing, ""
        if finding is not None:
            result = _failed(check, self._named(check, finding), told, timing)
            return self._explained(result, check, case, finding, earlier), timing, ""
        if reference is not None:
            earlier.append(reference.tree)
        return None, timing, note

    def _ask(
        self,
        bench: "LoadedSandbox",
        observe: Observe,
        case: Case,
        allowance: Allowance,
        running: str,
    ) -> tuple[Reply, Tree]:
        input_sets: list[Tree] = [*case.input_sets]
        try:
            return bench.sandbox.ask(observe, input_sets, allowance, running)
        except Failed:
            bench.dead = True
            raise

    def _explained(
        self,
        result: CheckResult,
        check: Check,
        case: Case,
        finding: Finding,
        earlier: list[Tree],
    ) -> CheckResult:
        devices = self.session.place(check).devices
        code = self.session.code
        explanation = _explain(
            lambda: of_finding(
                finding, self.lesson, check, case, code, devices=devices, earlier=earlier
            )
        )
        return msgspec.structs.replace(result, explanation=explanation)

    def _named(self, check: Check, finding: Finding) -> Finding:
        """The finding, with parts of a result called as the lesson calls them: `loss` for `[1]`."""
        path = finding.mismatch.path if finding.mismatch is not None else ""
        place = re.match(r"\[(\d+)\]", path)
        if place is None or not finding.message.startswith(path):
            return finding
        names = result_names(check.subject, self.lesson.starter, self.lesson.torch)
        if int(place[1]) >= len(names):
            return finding
        message = f"{names[int(place[1])]} ({path}){finding.message.removeprefix(path)}"
        return msgspec.structs.replace(finding, message=message)

    def _fault(self, fault: Fault, check: Check | None = None) -> Fault:
        """A fault, explained if it is the learner's and can be."""
        if fault.code in (*faults.INTERNAL, "not-written"):
            return fault
        kind = check.kind if check is not None else ""
        explanation = _explain(lambda: of_fault(fault, self.session.code, kind))
        return msgspec.structs.replace(fault, explanation=explanation)

    def _inputs_told(self, check: Check, case: Case) -> str:
        """Which inputs these are, as far as that helps the learner."""
        names = used_inputs(check, {**self.lesson.inputs, **check.inputs})
        shown = [f"{name} {brief(tree)}" for name, tree in case.inputs.items() if name in names]
        return ", ".join(shown)[:300]

    # --- afterwards --------------------------------------------------------------------------

    def _race(self, planned: Plan, references: References) -> Race | None:
        """Time the translation against the original. Nothing here changes a verdict."""
        if (found := timed(self.lesson, planned)) is None:
            return None
        check, case = found
        bench = self._bench(self.session.place())
        observe = Observe("race", RACE, check.observe())
        try:
            allowance = Allowance(RACE_SECONDS)
            reply, seen = self._ask(bench, observe, case, allowance, "the timing")
            if not isinstance(reply, Answer):
                return None
            first, warm = real(entry(seen, "first")), real(entry(seen, "warm"))
            if not (isfinite(first) and isfinite(warm)):
                return None
            torch = references.get("race").seconds
            return Race(check.subject, first, warm, torch)
        except (Failed, TreeError, ReferenceFailed):
            return None


# --- results -------------------------------------------------------------------------------


def _running(check: Check) -> str:
    return f"`{' '.join(check.subject.split())}`"[:300]


def _explain(symptom: Callable[[], Symptom]) -> Explanation | None:
    try:
        return explain(symptom())
    except Exception:  # noqa: BLE001 - an explanation is worth no verdict
        return None


def _failed(check: Check, finding: Finding, case: str, timing: Timing) -> CheckResult:
    return CheckResult(
        check.title,
        check.kind,
        "fail",
        inert(finding.message),  # it quotes what the learner's process said
        finding.mismatch,
        case=case,
        notes=finding.notes,
        timing=timing,
        wants=check.why,
    )


def _faulty(check: Check, fault: Fault, case: str = "") -> CheckResult:
    status: Status = "internal" if fault.code in faults.INTERNAL else "error"
    wants = check.why if status == "error" else ""
    return CheckResult(
        check.title, check.kind, status, fault.message, fault=fault, case=case, wants=wants
    )


def _skipped(check: Check, why: str) -> CheckResult:
    return CheckResult(check.title, check.kind, "skipped", why)


# --- what the report tells beside the results ------------------------------------------------


@cache
def installed_versions() -> dict[str, str]:
    """Of everything that a verdict may depend on."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"jaxtutor": __version__, "python": platform.python_version()}
    for name in ("jax", "jaxlib", "flax", "optax", "torch", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _versions(bench: "LoadedSandbox | None") -> dict[str, str]:
    seen = bench.ready.versions if bench and bench.ready else {}
    return {**installed_versions(), **seen}


def _devices(bench: "LoadedSandbox | None") -> str:
    if bench is None or bench.ready is None:
        return ""
    count, platform = bench.ready.devices, bench.ready.platform
    simulated = "simulated " if platform == "cpu" and count > 1 else ""
    return f"{count} {simulated}{platform.upper()} {'device' if count == 1 else 'devices'}"


def _isolation(bench: "LoadedSandbox | None") -> tuple[Protection, ...]:
    return tuple(bench.sandbox.protections) if bench else ()
