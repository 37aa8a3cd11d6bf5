"""From reports to points: what the checks give, and why no more."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from tutor.check import Check
from tutor.grading.result import CheckScore, Grade
from tutor.lesson import Lesson
from tutor.plain_text import inert
from tutor.report import CheckResult, Explanation, Report, Status, verdict_of

_WORST: tuple[Status, ...] = ("internal", "error", "fail", "skipped", "pass")
Found: TypeAlias = tuple[CheckResult, float]
"""What a check found, and the seconds that it took."""


class Marked(Struct, frozen=True):
    """What the runs of one submission give; the fields are those of `Result`."""

    verdict: Grade
    score: float | None
    max_score: float
    checks: tuple[CheckScore, ...]
    notes: tuple[str, ...]
    fault: str
    explained: Explanation | None


def marked(lesson: Lesson, reports: Sequence[Report]) -> Marked:
    """**Arguments:** `reports`: of every run, each under a seed of its own."""
    worst = [_worst([report.checks[place] for report in reports]) for place in _places(lesson)]
    fault = next((report.fault for report in reports if report.fault is not None), None)
    # What is a bonus decides nothing but its own points, unless it is ours that broke.
    decide = tuple(
        result
        for check, result in zip(lesson.checks, worst, strict=True)
        if not check.bonus or result.status == "internal"
    )
    verdict = verdict_of(decide, fault)
    all_or_nothing = not lesson.partial and verdict != "pass"
    checks = tuple(
        _scored(check, result, reports, place, all_or_nothing)
        for place, (check, result) in enumerate(zip(lesson.checks, worst, strict=True))
    )
    earned = rounded(sum(check.points for check in checks))
    most = rounded(sum(check.points for check in lesson.checks if not check.bonus))
    told = _told(fault.message if fault is not None else "", worst)
    score: float | None = earned
    if verdict == "internal" or (verdict == "error" and not earned):
        score = None
    notes = [*_lucky(reports), *_partial(lesson, checks, verdict, score, most)]
    return Marked(
        verdict, score, most, checks, tuple(notes), "" if verdict == "pass" else told,
        fault.explanation if fault is not None else None,
    )  # fmt: skip


def rounded(points: float) -> float:
    """Without what binary fractions leave: 0.1 + 0.2 is 0.3 here."""
    return round(points, 6) + 0.0


def _places(lesson: Lesson) -> range:
    return range(len(lesson.checks))


def _worst(results: Sequence[CheckResult]) -> CheckResult:
    return min(results, key=lambda result: _WORST.index(result.status))


def _scored(
    check: Check, result: CheckResult, reports: Sequence[Report], place: int, nothing: bool
) -> CheckScore:
    timings = [report.checks[place].timing for report in reports]
    return CheckScore(
        name=check.title,
        kind=check.kind,
        status=result.status,
        points=check.points if result.status == "pass" and not nothing else 0.0,
        max_points=check.points,
        bonus=check.bonus,
        message=inert(result.text),
        case=inert(result.case),
        seconds=sum(timing.compile + timing.run for timing in timings),
        visible=check.visible,
        explained=result.explained,
    )


def _told(fault: str, results: Sequence[CheckResult]) -> str:
    """Why it is no pass, in a line: the fault, or the first check that is worst."""
    if fault:
        return inert(fault)
    first = _worst(results)
    return inert(f"{first.name}: {first.message}") if first.status != "pass" else ""


def _lucky(reports: Sequence[Report]) -> list[str]:
    passed = sum(report.passed for report in reports)
    if not 0 < passed < len(reports):
        return []
    missed = ", ".join(str(report.seed) for report in reports if not report.passed)
    return [f"passes {passed} of {len(reports)} runs, so by chance; not under seed {missed}"]


def _partial(
    lesson: Lesson,
    checks: Sequence[CheckScore],
    verdict: Grade,
    score: float | None,
    most: float,
) -> list[str]:
    """Why there are neither all points nor none."""
    if verdict == "internal":
        return []
    missed = [one for one in checks if one.status != "pass" and (not one.bonus)]
    passed = [one for one in checks if one.status == "pass"]
    extra = [one for one in passed if one.bonus and one.points]
    notes = []
    if extra:
        notes.append(f"bonus: {_listed(extra)}")
    if not missed or not passed:
        return notes
    lost = "; ".join(f"{one.name} ({one.status})" for one in missed)
    if not lesson.partial:
        return [*notes, f"all or nothing: nothing, for not passed: {lost}"]
    if score is None:
        return notes
    told = f"{score:g} of {most:g} points: not passed: {lost}"
    if verdict == "error":
        told += "; the code broke, so look at it: these points are those of the checks that passed"
    return [*notes, told]


def _listed(checks: Sequence[CheckScore]) -> str:
    return ", ".join(f"{one.name} ({one.points:g})" for one in checks)
