"""From reports to points, with the reasons for partial credit."""

from collections.abc import Sequence

from msgspec import Struct

from tutor.check import Check
from tutor.checks.predict import questions
from tutor.foreign.plain_text import inert
from tutor.grading.result import CheckScore, Grade
from tutor.lesson import Lesson
from tutor.report import (
    Called,
    CheckResult,
    Explanation,
    Look,
    Report,
    Status,
    to_answer,
    verdict_of,
)

_WORST_FIRST: tuple[Status, ...] = ("internal", "error", "fail", "skipped", "pass")


class Marks(Struct, frozen=True):
    """The outcome of all runs of a submission; the fields are those of `Result`."""

    verdict: Grade
    score: float | None
    max_score: float
    checks: tuple[CheckScore, ...]
    notes: tuple[str, ...]
    fault: str
    values: tuple[str, ...]
    explained: Explanation | None
    help: Called | None
    looks: tuple[Look, ...]


def mark_reports(lesson: Lesson, reports: Sequence[Report]) -> Marks:
    """Return the marks for a submission. **Arguments:** `reports`: one per seed."""
    worst = [
        _worst([report.checks[index] for report in reports]) for index in range(len(lesson.checks))
    ]
    fault = next((report.fault for report in reports if report.fault is not None), None)
    # A bonus check does not affect the verdict, unless jaxtutor itself failed.
    decisive = tuple(
        result
        for check, result in zip(lesson.checks, worst, strict=True)
        if not check.bonus or result.status == "internal"
    )
    verdict = verdict_of(decisive, fault)
    no_points = not lesson.partial and verdict != "pass"
    checks = tuple(
        _check_score(check, result, reports, index, no_points)
        for index, (check, result) in enumerate(zip(lesson.checks, worst, strict=True))
    )
    earned = round_points(sum(check.points for check in checks))
    max_score = round_points(sum(check.points for check in lesson.checks if not check.bonus))
    score: float | None = earned
    if verdict == "internal" or (verdict == "error" and not earned):
        score = None
    notes = [
        *_flaky_notes(reports),
        *_partial_notes(lesson, checks, verdict, score, max_score),
        *_guessing_notes(lesson, max_score),
    ]
    return Marks(
        verdict, score, max_score, checks, tuple(notes),
        "" if verdict == "pass" else _fault(fault.message if fault is not None else "", worst),
        fault.values if fault is not None else (),
        fault.explanation if fault is not None else None,
        fault.help if fault is not None else None,
        tuple(sorted({look for report in reports for look in report.looks})),
    )  # fmt: skip


def round_points(points: float) -> float:
    """Return points without the error of binary fractions: 0.1 + 0.2 is 0.3."""
    return round(points, 6) + 0.0


def _worst(results: Sequence[CheckResult]) -> CheckResult:
    # A question left open says less than code that is wrong.
    return min(results, key=lambda one: (_WORST_FIRST.index(one.status), one.unanswered))


def _check_score(
    check: Check, result: CheckResult, reports: Sequence[Report], index: int, no_points: bool
) -> CheckScore:
    timings = [report.checks[index].timing for report in reports]
    return CheckScore(
        name=check.title,
        kind=check.kind,
        status=result.status,
        points=check.points if result.status == "pass" and not no_points else 0.0,
        max_points=check.points,
        bonus=check.bonus,
        message=inert(result.text),
        values=result.fault.values if result.fault is not None else (),
        case=inert(result.case),
        seconds=sum(timing.compile + timing.run for timing in timings),
        visible=check.visible,
        explained=result.explained,
        curves=result.curves,
        help=result.fault.help if result.fault is not None else None,
    )


def _fault(message: str, results: Sequence[CheckResult]) -> str:
    """Return in one line why it is not a pass: the fault, open questions, or the worst check."""
    if message := message or to_answer(results):
        return inert(message)
    worst = _worst(results)
    return inert(f"{worst.name}: {worst.message}") if worst.status != "pass" else ""


def _flaky_notes(reports: Sequence[Report]) -> list[str]:
    passed = sum(report.passed for report in reports)
    if not 0 < passed < len(reports):
        return []
    failed = ", ".join(str(report.seed) for report in reports if not report.passed)
    return [f"passed {passed} of {len(reports)} runs, by chance; failed with seed {failed}"]


def _guessing_notes(lesson: Lesson, max_score: float) -> list[str]:
    """Say how much guessing earns, where an answer is one of few."""
    guessed = [check for check in questions(lesson.checks) if check.chance and not check.bonus]
    expected = round_points(sum(check.chance * check.points for check in guessed))
    if not expected:
        return []
    noun = "question" if len(guessed) == 1 else "questions"
    count = f"{len(guessed)} {noun} with choices"
    return [f"{count}: guessing alone earns {expected:.3g} of {max_score:g} points on average"]


def _partial_notes(
    lesson: Lesson,
    checks: Sequence[CheckScore],
    verdict: Grade,
    score: float | None,
    max_score: float,
) -> list[str]:
    """Return the reasons for a score other than none or all points."""
    if verdict == "internal":
        return []
    missed = [check for check in checks if check.status != "pass" and not check.bonus]
    passed = [check for check in checks if check.status == "pass"]
    extra = [check for check in passed if check.bonus and check.points]
    notes = []
    if extra:
        listed = ", ".join(f"{check.name} ({check.points:g})" for check in extra)
        notes.append(f"bonus: {listed}")
    if not missed or not passed:
        return notes
    lost = "; ".join(f"{check.name} ({check.status})" for check in missed)
    if not lesson.partial:
        return [*notes, f"all or nothing: 0 points; not passed: {lost}"]
    if score is None:
        return notes
    note = f"{score:g} of {max_score:g} points; not passed: {lost}"
    if verdict == "error":
        note += "; the code broke: review the points for the checks that passed"
    return [*notes, note]
