"""Trials: an answer is checked under some seeds, and must get the result that its kind demands.

A right answer passes without a warning, the starter does not pass, a mistake fails at the check and
in the words that the lesson promises. What holds only under some seeds is flaky.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Literal

from msgspec import Struct

from tutor.authoring.idle import idle_answers
from tutor.check import Case, Check
from tutor.engine.sandboxes import Cancel, Sandboxes
from tutor.engine.session import Session
from tutor.inputs.drawing import DrawError
from tutor.lesson import Lesson, Mistake
from tutor.manifest import Pack, solution_folders
from tutor.marked_regions import solution_lines
from tutor.pack.folder import Folder
from tutor.pack.places import Places, pack_fault
from tutor.pool.forks import Forks
from tutor.report import LOAD, CheckResult, Fault, Report, Verdict, looks_text
from tutor.sandbox.faults import OVERTIME
from tutor.sandbox.process import Failed

Kind = Literal["solution", "variant", "starter", "mistake", "mutant", "idle"]


class Trial(Struct, frozen=True):
    """An answer to try. `mistake`: the lesson's entry that it was made from; `recorded`: whether
    it may be compared with recorded answers, instead of new ones; `pack`: where the lesson is from,
    to say where problems are; `file`: where the answer is from, if it is a file, as messages name
    it."""

    lesson: Lesson
    kind: Kind
    name: str
    code: str
    seeds: tuple[int, ...]
    mistake: Mistake | None = None
    recorded: bool = False
    pack: Pack | None = None
    file: str = ""


class Outcome(Struct, frozen=True):
    """The result of a trial, of comparing recorded answers (`tutor.authoring.recording`), or of an
    example in the lesson's text (`tutor.authoring.examples`).

    `problem` is empty if the trial holds, else says what is wrong under `seeds`; `tried` counts all
    seeds that were run. `check` names the check with the problem; for a mutant, the one that killed
    it. `verdict` is the last seed's. `timed_out`: the answer was stopped. `ours`: the trial could
    not run, through no fault of the lesson or the answer. `seconds` is the most processor time
    under one seed, `memory_mb` the most memory, where it can be measured. `starved`: the machine
    was too busy. `offered`: of a mistake, the numbers of the failure hints that learners who make
    it are offered, 0 for none; empty if the lesson has no failure hints. `place`: the file and line
    of what is wrong.
    """

    lesson: str
    kind: Kind | Literal["recording", "example"]
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
    offered: tuple[int, ...] = ()
    place: str = ""

    @property
    def holds(self) -> bool:
        return not self.problem

    @property
    def passed_idly(self) -> bool:
        """Whether it is an answer that does no work and passes, without being marked."""
        return self.kind == "idle" and self.verdict == "pass" and not self.holds


class Wrong(Struct, frozen=True):
    """A failure under one seed; `problem`, `check` and `ours` as in `Outcome`.

    What is at fault: the `part` of the lesson, a path of keys and numbers in its file, by default
    the check; the answer's own `line`, 0 for the file as a whole; or what has the `fault` of the
    pack in `report`.
    """

    problem: str = ""
    check: str = ""
    ours: bool = False
    part: tuple[str | int, ...] = ()
    line: int | None = None
    fault: Fault | None = None
    report: Report | None = None


_WRONG = ("mistake", "mutant", "idle")
"""Kinds of which only the first failing check counts."""

RUNS = 20
"""Seeds per sandbox: what JAX compiles for each stays in its memory."""

RUNS_WITH_ERRORS = 5
"""Seeds per sandbox for answers that raise: where a tracer has escaped, JAX searches for what
refers to it, which takes longer each time."""

SEEDS_OF_ALL_CHECKS = 5
"""Seeds under which everything is tried. Under each of the others, right answers are tried in one
of the cases, in turn, and not by checks of how code is written; a mistake only has to fail at the
check that it names."""

SEEDS_OF_MISTAKES = 20
"""Most seeds for a mistake: a right answer that fails once in a hundred is worse than a wrong one
that passes as often."""

SEEDS_OF_IDLE = 2
"""Seeds for an answer that does no work; catching it does not depend on luck."""


def attempt(
    trial: Trial,
    sandboxes: Sandboxes | None = None,
    cancel: Cancel | None = None,
    on_seed: Callable[[], None] = lambda: None,
) -> Outcome:
    """Try an answer under all of its seeds; once more if the machine was too busy.

    **Arguments:** `sandboxes`: by default, new ones; `cancel` stops the trial; `on_seed` is called
    after each seed.

    Raises:
        Cancelled: `cancel.cancel()` was called.
    """
    outcome = _attempt(trial, sandboxes, cancel, on_seed)
    return _attempt(trial, sandboxes, cancel, on_seed) if outcome.starved else outcome


def _attempt(
    trial: Trial, sandboxes: Sandboxes | None, cancel: Cancel | None, on_seed: Callable[[], None]
) -> Outcome:
    wrong: dict[int, Wrong] = {}
    reports: list[Report] = []
    memory: list[int] = []
    warned = ""
    waiting = list(trial.seeds)
    while waiting:
        with Session(
            trial.lesson,
            trial.code,
            cancel=cancel,
            sandboxes=sandboxes,
            recorded=trial.recorded,
        ) as session:
            for run in range(min(RUNS, len(waiting))):
                seed = waiting.pop(0)
                report = session.check(
                    seed,
                    all_checks=trial.kind not in _WRONG,
                    choose=partial(chosen_cases, trial, len(reports)),
                )
                if run == 0 and (peak := session.peak_mb()) is not None:
                    memory.append(peak)  # of a single run, with nothing left over from others
                fault = judged(trial, report)
                if fault is None and trial.kind in ("solution", "variant") and report.stderr:
                    words = f"it warns: {_first_line(report.stderr)}"
                    fault = None if warned else Wrong(words, line=0)
                    warned = report.stderr  # it accumulates over seeds; report it once
                if fault is not None:
                    wrong[seed] = fault
                reports.append(report)
                on_seed()
                if _hopeless(trial, report):
                    waiting.clear()
                    break
                if report.verdict == "error" and run + 1 >= RUNS_WITH_ERRORS:
                    break
    # Ours first: they say nothing about the lesson.
    worst = next((w for w in wrong.values() if w.ours), next(iter(wrong.values()), Wrong()))
    problem, check = worst.problem, worst.check
    tried, last = len(reports), reports[-1]
    if 0 < len(wrong) < tried and check and not worst.ours:
        problem = f"flaky, holds under {tried - len(wrong)} of {tried} seeds: {problem}"
    starved = "busy-machine" in last.fault_codes
    if problem and starved:
        problem += ", or with --jobs 1"
    if trial.kind == "mutant" and not wrong and last.fault is None:
        check = _first_not_passed(last).name
    offered: set[int] = set()
    if trial.kind == "mistake" and trial.lesson.failure_hints:
        offered = {trial.lesson.failure_hint(report) for report in reports}
    return Outcome(
        trial.lesson.id, trial.kind, trial.name, problem, check, tuple(wrong), tried,
        last.verdict, bool({"timeout", "waited"} & last.fault_codes), worst.ours,
        max(report.timings.processor for report in reports), max(memory, default=None), starved,
        tuple(sorted(offered)), _place(trial, worst),
    )  # fmt: skip


def chosen_cases(trial: Trial, before: int, check: Check, cases: list[Case]) -> list[Case]:
    """Return which of a check's cases to try, after `before` other seeds."""
    if before < SEEDS_OF_ALL_CHECKS:
        return cases
    if trial.mistake is not None:
        named = trial.mistake.fails in (LOAD, check.title, check.kind)
        return cases if named else []
    if check.structural and not all(one.structural for one in trial.lesson.checks):
        return []
    turn = before % len(cases)
    return cases[turn : turn + 1]


def _place(trial: Trial, wrong: Wrong) -> str:
    """Return where to look for a problem, as `file:line`; empty if nobody knows."""
    if trial.pack is None or wrong.ours or not wrong.problem:
        return ""
    places = Places(trial.pack, trial.lesson)
    if wrong.fault is not None and wrong.report is not None:
        return places.of_fault(wrong.report, wrong.fault)
    if wrong.line is not None and trial.file:
        line = wrong.line
        if trial.kind == "solution" and line:
            written = solution_lines(trial.pack.written_solution(trial.lesson.id) or "")
            line = written[line - 1] if line <= len(written) else line
        return f"{trial.file}:{line}" if line else trial.file
    if not wrong.part and wrong.check and wrong.check != LOAD:
        return places.of_check(wrong.check)
    return places.of(*(wrong.part or ("checks",)))


def _hopeless(trial: Trial, report: Report) -> bool:
    """Return whether other seeds would add nothing: the answer cannot be imported, takes too long,
    or is a mutant that raises."""
    broke = trial.kind in ("mutant", "idle") and report.verdict == "error"
    return broke or report.fault is not None or bool(OVERTIME & report.fault_codes)


# --- judging ---------------------------------------------------------------------------------


def judged(trial: Trial, report: Report) -> Wrong | None:
    """Return what is wrong with an answer's report for its kind, None if nothing is."""
    if report.verdict == "internal":
        return _internal(report)
    match trial.kind:
        case "solution" | "variant":
            return _not_passed(trial.lesson, report)
        case "mistake":
            assert trial.mistake is not None
            numbers = [n for n, one in enumerate(trial.lesson.mistakes) if one == trial.mistake]
            return _not_caught(trial.mistake, report, ("mistakes", *numbers[:1]))
        case "starter":
            if report.passed:
                return Wrong("it passes; a starter must leave something to do", part=("starter",))
            fails = trial.lesson.starter_fails
            return _fails_elsewhere(fails, report, ("starter_fails",)) if fails else None
        case "mutant":
            return Wrong("it passes") if report.passed else None
        case "idle":
            return _not_noticed(trial, report)


def _not_noticed(trial: Trial, report: Report) -> Wrong | None:
    marks = [mark.mutant for mark in trial.lesson.equivalent]
    marked = trial.name in marks
    if marked and not report.passed:
        first = report.checks and _first_not_passed(report).name
        words = f"it is marked as equivalent but fails at {first!r}; remove the mark"
        return Wrong(words, part=("equivalent", marks.index(trial.name)))
    if report.passed and not marked:
        return Wrong(
            "it does no work and passes; add a check that catches it, or mark it with a reason"
        )
    return None


def _internal(report: Report) -> Wrong:
    if (fault := pack_fault(report)) is not None:
        return Wrong(fault.message, fault=fault, report=report)
    first = next((c.message for c in report.checks if c.status == "internal"), "")
    return Wrong(report.fault.message if report.fault else first, ours=True)


def _not_passed(lesson: Lesson, report: Report) -> Wrong | None:
    if report.passed and report.looks:
        words = f"it {looks_text(report.looks)}: graders would have to review all answers like it"
        return Wrong(words, line=report.looks[0].line)
    if report.passed:
        return None
    if report.fault is not None:
        frames = report.fault.frames
        line = frames[-1].line if frames else report.fault.line
        return Wrong(f"it does not load: {report.fault.message}", line=line or 0)
    first = _first_not_passed(report)
    compared = any(c.title == first.name and c.refer() is not None for c in lesson.checks)
    against = "; the PyTorch and this answer disagree" if compared and first.mismatch else ""
    return Wrong(f"{first.name!r} does not pass: {first.message}{against}", first.name)


def _not_caught(mistake: Mistake, report: Report, part: tuple[str | int, ...]) -> Wrong | None:
    fails = (*part, "fails")
    if report.passed:
        return Wrong(f"it passes; {mistake.fails!r} should fail", mistake.fails, part=fails)
    if mistake.fails == LOAD:
        if report.fault is None:
            first = _first_not_passed(report)
            words = f"it loads and fails at {first.name!r}: {first.message}"
            return Wrong(words, first.name, part=fails)
    elif (elsewhere := _fails_elsewhere(mistake.fails, report, fails)) is not None:
        return elsewhere
    failure = report.first_failure
    assert failure is not None, "it did not pass"
    if not (missing := failure.lacks(mistake.expected_texts)):
        return None
    check, listed = failure.names[0], ", ".join(map(repr, missing))
    said = _first_line(failure.text)
    words = f"{check!r} does not say {listed}; it says: {said}"
    return Wrong(words, check, part=(*part, "says"))


def _fails_elsewhere(fails: str, report: Report, part: tuple[str | int, ...]) -> Wrong | None:
    """Return what is wrong unless the first check that fails is `fails`, a name or a kind."""
    if report.fault is not None:
        words = f"it fails at {LOAD}, not at {fails!r}: {report.fault.message}"
        return Wrong(words, LOAD, part=part)
    first = _first_not_passed(report)
    if fails in (first.name, first.kind):
        return None
    words = f"it fails at {first.name!r}, not at {fails!r}: {first.message}"
    return Wrong(words, first.name, part=part)


def _first_not_passed(report: Report) -> CheckResult:
    """Return the first check that failed; others are skipped only after one of these."""
    return next(check for check in report.checks if check.status in ("fail", "error"))


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


# --- the trials of a lesson -------------------------------------------------------------------


def trials(
    pack: Pack, lesson: Lesson, seeds: tuple[int, ...], with_variants: bool
) -> tuple[list[Trial], list[Outcome]]:
    """Return a lesson's trials without mutants, and outcomes of those that cannot be started.

    **Arguments:** `seeds`: for right answers and mistakes; `with_variants`: include the variants.
    """
    found = [Trial(lesson, "starter", "starter", lesson.starter, seeds[:1], pack=pack)]
    places = Places(pack, lesson)
    answer = f"{lesson.track}/{lesson.id}.py"
    bases = [base for base in solution_folders(pack.root) if (base / answer).is_file()]
    shown = Folder(bases[0]).shown(answer) if bases else ""
    try:
        solution = pack.solution(lesson.id)
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8: {error}"
        return found, [Outcome(lesson.id, "solution", "solution", problem, place=shown)]
    if solution is None:
        problem, place = f"missing; expected solutions/{answer}", places.of("id")
        return found, [Outcome(lesson.id, "solution", "solution", problem, place=place)]
    found.insert(0, Trial(lesson, "solution", "solution", solution, seeds, pack=pack, file=shown))
    failed: list[Outcome] = []
    found += [
        Trial(lesson, "idle", idle.name, idle.code, seeds[:SEEDS_OF_IDLE], pack=pack)
        for idle in idle_answers(lesson, solution)
    ]
    for number, mistake in enumerate(lesson.mistakes):
        try:
            code = mistake.applied_to(solution)
        except ValueError as error:
            problem = str(error).removeprefix(f"mistake {mistake.name!r}: ")
            place = places.of("mistakes", number, "edit")
            failed.append(Outcome(lesson.id, "mistake", mistake.name, problem, place=place))
            continue
        named = [one for one in lesson.checks if mistake.fails in (one.title, one.kind)]
        structural = any(one.structural for one in named)
        few = seeds[: SEEDS_OF_ALL_CHECKS if structural else SEEDS_OF_MISTAKES]
        found.append(Trial(lesson, "mistake", mistake.name, code, few, mistake, pack=pack))
    for path in pack.variants(lesson.id) if with_variants else ():
        shown = Folder(path.parent).shown(path.name)
        try:
            code = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            problem = f"it is not UTF-8: {error}"
            failed.append(Outcome(lesson.id, "variant", path.stem, problem, place=shown))
            continue
        found.append(Trial(lesson, "variant", path.stem, code, seeds, pack=pack, file=shown))
    return found, failed


def learn(forks: Forks, lesson: Lesson, solution: str) -> None:
    """Compile what the solution needs once, not for every trial."""
    with suppress(Failed, DrawError):  # the trials report it
        forks.compile_programs(lesson, solution)
