"""One trial: an answer under some seeds, and what must become of it.

A right answer passes and warns of nothing, the starter does not pass, a mistake is caught where the
lesson says and in its words. What holds under some seeds only is told as flaky, with the seeds.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from tutor.authoring.idle import idle_answers
from tutor.engine.session import Session
from tutor.engine.submission import Cancel, Sandboxes
from tutor.inputs.functions import DrawError
from tutor.lesson import Lesson, Mistake
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.report import CheckResult, Report, Verdict
from tutor.sandbox.faults import OVERTIME
from tutor.sandbox.process import Failed

Kind = Literal["solution", "variant", "starter", "mistake", "mutant", "idle"]


class Trial(Struct, frozen=True):
    """An answer to be tried. `mistake`: the entry that it comes from."""

    lesson: Lesson
    kind: Kind
    name: str
    code: str
    seeds: tuple[int, ...]
    mistake: Mistake | None = None


class Outcome(Struct, frozen=True):
    """What became of a trial.

    `problem` says what is wrong, and is empty if it holds; `seeds` are those under which that is
    so, of the `tried`. `check` names the check that tells, or of a mutant the one that kills it.
    `verdict` is that under the last seed. `timed_out`: the answer was stopped. `ours`: nothing
    could be told, and that is neither the lesson's nor the answer's fault. `seconds` is the most
    processor time that the answer took under one seed; `memory_mb` the most that it had, if that
    can be seen. `starved`: the machine was too busy to tell.
    """

    lesson: str
    kind: Kind
    name: str
    problem: str = ""
    check: str = ""
    seeds: tuple[int, ...] = ()
    tried: int = 0
    verdict: Verdict | None = None
    timed_out: bool = False
    ours: bool = False
    seconds: float = 0.0
    memory_mb: int | None = None
    starved: bool = False

    @property
    def holds(self) -> bool:
        return not self.problem


class Wrong(Struct, frozen=True):
    """What is wrong under one seed; the fields are those of an `Outcome`."""

    problem: str = ""
    check: str = ""
    ours: bool = False


_WRONG = ("mistake", "mutant", "idle")
"""Answers of which the first check that notices is all that counts."""

RUNS = 20
"""Seeds under which an answer is tried in one sandbox: what JAX compiles for each stays there."""

RUNS_OF_MISTAKES = 5
"""The same of wrong answers, of which more stays: where a tracer has escaped, JAX looks for all
that holds one, which takes longer each time."""

SEEDS_OF_MISTAKES = 20
"""Most seeds for a mistake: a right answer that fails once in a hundred is worse than a wrong one
that passes as often."""


SEEDS_OF_IDLE = 2
"""Seeds for an answer that does no work: what notices it depends on no luck."""


def attempt(
    trial: Trial,
    sandboxes: Sandboxes | None = None,
    cancel: Cancel | None = None,
    heard: Callable[[], None] = lambda: None,
) -> Outcome:
    """Try an answer under all of its seeds. If the machine was too busy to tell, try it once more.

    **Arguments:** `sandboxes`: where these come from; `cancel` stops it; `heard` is called after
    each seed.

    Raises:
        Cancelled: `cancel.cancel()` was called.
    """
    outcome = _attempt(trial, sandboxes, cancel, heard)
    return _attempt(trial, sandboxes, cancel, heard) if outcome.starved else outcome


def _attempt(
    trial: Trial, sandboxes: Sandboxes | None, cancel: Cancel | None, heard: Callable[[], None]
) -> Outcome:
    wrong: dict[int, Wrong] = {}
    reports: list[Report] = []
    memory: list[int] = []
    warned = ""
    runs = RUNS_OF_MISTAKES if trial.kind in _WRONG else RUNS
    for first in range(0, len(trial.seeds), runs):
        with Session(trial.lesson, trial.code, cancel=cancel, sandboxes=sandboxes) as session:
            for seed in trial.seeds[first : first + runs]:
                report = session.check(seed, all_checks=trial.kind not in _WRONG)
                if seed == trial.seeds[first] and (peak := session.peak_mb()) is not None:
                    memory.append(peak)  # as one run has it, with nothing left of others
                found = judged(trial, report)
                if found is None and trial.kind in ("solution", "variant") and report.stderr:
                    found = None if warned else Wrong(f"it warns: {_first_line(report.stderr)}")
                    warned = report.stderr  # it gathers what was said before; once is enough
                if found is not None:
                    wrong[seed] = found
                reports.append(report)
                heard()
                if _hopeless(trial, report):
                    break
        if _hopeless(trial, reports[-1]):
            break
    # Ours first: what could not be judged says nothing of the lesson.
    worst = next((w for w in wrong.values() if w.ours), next(iter(wrong.values()), Wrong()))
    problem, check = worst.problem, worst.check
    tried, last = len(reports), reports[-1]
    if 0 < len(wrong) < tried and check and not worst.ours:
        problem = f"flaky, holds under {tried - len(wrong)} of {tried} seeds: {problem}"
    starved = "busy-machine" in _codes(last)
    if problem and starved:
        problem += ", or with --jobs 1"
    if trial.kind == "mutant" and not wrong and last.fault is None:
        check = _first_not_passed(last).name
    return Outcome(
        trial.lesson.id, trial.kind, trial.name, problem, check, tuple(wrong), tried,
        last.verdict, _timed_out(last), worst.ours,
        max(report.timings.processor for report in reports), max(memory, default=None), starved,
    )  # fmt: skip


def _hopeless(trial: Trial, report: Report) -> bool:
    """Whether other seeds would tell no more: what cannot be imported cannot under any, what takes
    too long does again, and a mutant that breaks is dead."""
    broke = trial.kind in ("mutant", "idle") and report.verdict == "error"
    return broke or report.fault is not None or bool(OVERTIME & _codes(report))


def _timed_out(report: Report) -> bool:
    return bool({"timeout", "waited"} & _codes(report))


def _codes(report: Report) -> set[str]:
    """Of all faults."""
    found = [report.fault, *(check.fault for check in report.checks)]
    return {fault.code for fault in found if fault is not None}


# --- what must become of an answer -----------------------------------------------------------


def judged(trial: Trial, report: Report) -> Wrong | None:
    """What is wrong with what became of an answer, if anything is."""
    if report.verdict == "internal":
        return _internal(report)
    match trial.kind:
        case "solution" | "variant":
            return _not_passed(trial.lesson, report)
        case "mistake":
            assert trial.mistake is not None
            return _not_caught(trial.mistake, report)
        case "starter":
            return (
                Wrong("it passes; a starter must leave something to do") if report.passed else None
            )
        case "mutant":
            return Wrong("it passes") if report.passed else None
        case "idle":
            return _not_noticed(trial, report)


def _not_noticed(trial: Trial, report: Report) -> Wrong | None:
    marked = any(mark.mutant == trial.name for mark in trial.lesson.equivalent)
    if marked and not report.passed:
        first = report.checks and _first_not_passed(report).name
        return Wrong(f"it is marked as equivalent, and fails at {first!r}; take the mark out")
    if report.passed and not marked:
        return Wrong(
            "it does no work and passes; add a check that notices, or mark it with a reason"
        )
    return None


def _internal(report: Report) -> Wrong:
    faults = [report.fault, *(check.fault for check in report.checks)]
    fault = next((f for f in faults if f is not None and f.code == "broken-pack"), None)
    if fault is not None:
        return Wrong(fault.message)
    first = next((c.message for c in report.checks if c.status == "internal"), "")
    return Wrong(report.fault.message if report.fault else first, ours=True)


def _not_passed(lesson: Lesson, report: Report) -> Wrong | None:
    if report.passed:
        return None
    if report.fault is not None:
        return Wrong(f"it does not load: {report.fault.message}")
    first = _first_not_passed(report)
    compared = any(c.title == first.name and c.refer() is not None for c in lesson.checks)
    against = "; the PyTorch and this answer disagree" if compared and first.mismatch else ""
    return Wrong(f"{first.name!r} does not pass: {first.message}{against}", first.name)


def _not_caught(mistake: Mistake, report: Report) -> Wrong | None:
    if report.passed:
        return Wrong(f"it passes; {mistake.fails!r} should fail", mistake.fails)
    if mistake.fails == "load":
        if report.fault is None:
            first = _first_not_passed(report)
            return Wrong(f"it loads, and fails at {first.name!r}: {first.message}", first.name)
        told = f"{report.fault.message}\n{report.fault.detail}"
        return _unsaid(mistake, told, "load")
    if report.fault is not None:
        return Wrong(f"it fails at load, not at {mistake.fails!r}: {report.fault.message}", "load")
    first = _first_not_passed(report)
    if mistake.fails not in (first.name, first.kind):
        what = f"it fails at {first.name!r}, not at {mistake.fails!r}: {first.message}"
        return Wrong(what, first.name)
    return _unsaid(mistake, words_of(first), first.name)


def _unsaid(mistake: Mistake, told: str, check: str) -> Wrong | None:
    missing = [words for words in mistake.expected_texts if words not in told]
    if not missing:
        return None
    listed = ", ".join(map(repr, missing))
    return Wrong(f"{check!r} does not say {listed}; it says: {_first_line(told)}", check)


def _first_not_passed(report: Report) -> CheckResult:
    """What the learner looks at first. Only after one of these can others be skipped."""
    return next(check for check in report.checks if check.status in ("fail", "error"))


def words_of(result: CheckResult) -> str:
    """All that a learner is told of a check."""
    detail = result.fault.detail if result.fault is not None else ""
    return f"{result.text}\n{detail}"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


# --- what there is to try --------------------------------------------------------------------


def trials(
    pack: Pack, lesson: Lesson, seeds: tuple[int, ...], with_variants: bool
) -> tuple[list[Trial], list[Outcome]]:
    """What there is to try of a lesson, but for mutants; and what fails before it is tried.

    **Arguments:** `seeds`: those of right answers and mistakes; `with_variants`: also the right
    answers beside the solution.
    """
    found = [Trial(lesson, "starter", "starter", lesson.starter, seeds[:1])]
    try:
        solution = pack.solution(lesson.id)
    except UnicodeDecodeError as error:
        return found, [Outcome(lesson.id, "solution", "solution", f"it is no UTF-8: {error}")]
    if solution is None:
        missing = f"there is none; expected solutions/{lesson.track}/{lesson.id}.py"
        return found, [Outcome(lesson.id, "solution", "solution", missing)]
    found.insert(0, Trial(lesson, "solution", "solution", solution, seeds))
    failed: list[Outcome] = []
    found += [
        Trial(lesson, "idle", idle.name, idle.code, seeds[:SEEDS_OF_IDLE])
        for idle in idle_answers(lesson, solution)
    ]
    for mistake in lesson.mistakes:
        try:
            code = mistake.applied_to(solution)
        except ValueError as error:
            problem = str(error).removeprefix(f"mistake {mistake.name!r}: ")
            failed.append(Outcome(lesson.id, "mistake", mistake.name, problem))
            continue
        few = seeds[:SEEDS_OF_MISTAKES]
        found.append(Trial(lesson, "mistake", mistake.name, code, few, mistake))
    for path in pack.variants(lesson.id) if with_variants else ():
        try:
            code = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            failed.append(Outcome(lesson.id, "variant", path.stem, f"it is no UTF-8: {error}"))
            continue
        found.append(Trial(lesson, "variant", path.stem, code, seeds))
    return found, failed


def learn(forks: Forks, lesson: Lesson, solution: str) -> None:
    """Have what the solution needs compiled be compiled once, not for every trial."""
    with suppress(Failed, DrawError):  # the trials will tell
        forks.learn(lesson, solution)
