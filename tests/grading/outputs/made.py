"""Real results, and hostile ones."""

from tutor.engine.session import Session
from tutor.grading.result import CheckScore, Late, Override, Result
from tutor.lesson import Lesson
from tutor.pool.forks import Forks


def made(
    forks: Forks,
    submission: str,
    lesson: Lesson,
    code: str,
    late: Late | None = None,
    override: Override | None = None,
) -> Result:
    """Check code; return a result with a point per check."""
    with Session(lesson, code, sandboxes=forks) as session:
        report = session.check(7)
    checks = tuple(
        CheckScore(
            name=check.name,
            kind=check.kind,
            status=check.status,
            points=float(check.status == "pass"),
            max_points=1.0,
            message=check.message,
            case=check.case,
            seconds=check.timing.run,
        )
        for check in report.checks
    )
    return Result(
        submission=submission,
        lesson=lesson.id,
        verdict=report.verdict,
        score=sum(check.points for check in checks) - (late.penalty if late else 0.0),
        max_score=float(len(lesson.checks)),
        checks=checks,
        seed=7,
        late=late,
        override=override,
        runs=1,
        fault=report.fault.message if report.fault is not None else "",
        source=f"{submission}/{lesson.id}.py",
        seconds=report.timings.total,
    )


NASTY = [
    "<script>alert(1)</script>",
    "</style></title><img src=x onerror=alert(1)>",
    "\"onmouseover='alert(1)'",
    "]]>&lt;<!-- --!><![CDATA[",
    "=cmd|' /C calc'!A0",
    "x;=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r\n=1",
    "'=1",
    "＝1",
    "a\x00b\x1b[31mred\x07",
    "\ud800 \ufffe \uffff",
    "\u202egnp.exe",
    "شيماء",
    "👩\u200d🚀 Zoë",
    "x" * 300,
    "é" * 300,
    "../../etc/passwd",
    "C:\\con",
    "CON",
    "nul.txt",
    "-rf",
    ".",
    "..",
    " ",
    "",
    "Ann",
    "ann",
    "ANN",
    "Zoe\u0308",
    "Zoë",
    "{{ 7 * 7 }}{% raw %}",
    "a,b\"c;d\n'e",
]


def hostile_result(name: str) -> Result:
    checks = tuple(
        CheckScore(
            name=f"{status} {name}"[:100],
            kind="value",
            status=status,
            points=0.5,
            max_points=1.0,
            bonus=status == "skipped",
            message=name,
            values=(name,),
            case=name,
            seconds=0.25,
            visible=status != "error",
        )
        for status in ("pass", "fail", "error", "skipped", "internal")
    )
    return Result(
        submission=name,
        lesson="double",
        verdict="fail",
        score=2.5,
        max_score=4.0,
        checks=checks,
        notes=(name, "partial credit: 2.5 of 4"),
        late=Late(1.25, 0.125, f"late {name}"),
        override=Override(3.25, name, name, "2026-01-01T00:00:00Z"),
        fault=name,
        source=f"{name}/double.py",
        seconds=1.5,
    )


HOSTILE = [hostile_result(name) for name in NASTY]
