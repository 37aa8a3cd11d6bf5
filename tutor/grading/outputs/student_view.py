"""The part of a result that its student may see.

Notes are for graders only: they may name other students' files. Internal faults, which may quote
the solution's checks, are hidden too, and so is everything about an invisible check except its
points. The reason for an override is shown; `grade override` says so.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from tutor.grading.result import CheckScore, Result
from tutor.report import Called, Explanation


class StudentView(Struct, frozen=True):
    """`checks` are the visible ones; `hidden` counts the others, worth `hidden_points` of
    `hidden_max`. `fault` is set if no check says what is wrong: with the file, or with code that
    could not run; `values`, `explained` and `help` belong to it."""

    checks: tuple[CheckScore, ...]
    hidden: int
    hidden_points: float
    hidden_max: float
    fault: str
    values: tuple[str, ...]
    explained: Explanation | None
    help: Called | None


def student_view(result: Result) -> StudentView:
    """Return what the student may see of a result."""
    hidden = [check for check in result.checks if not check.visible]
    return StudentView(
        tuple(_without_hidden_names(check, hidden) for check in result.checks if check.visible),
        len(hidden),
        sum(check.points for check in hidden),
        sum(check.max_points for check in hidden if not check.bonus),
        fault := _visible_fault(result),
        result.values if fault else (),
        result.explained if fault else None,
        result.help if fault else None,
    )


def _visible_fault(result: Result) -> str:
    if result.verdict == "internal":
        return ""
    # If a check failed, visible or not, the fault repeats its message.
    failed = any(check.status not in ("pass", "skipped") for check in result.checks)
    return "" if failed else result.fault


def _without_hidden_names(check: CheckScore, hidden: Sequence[CheckScore]) -> CheckScore:
    """Return the check; the message of a skipped one names the check that it needs."""
    if check.status != "skipped" or not any(other.name in check.message for other in hidden):
        return check
    return msgspec.structs.replace(check, message="needs a hidden check to pass first")
