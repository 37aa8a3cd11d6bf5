"""What of a result its student may see.

Notes stay with those who grade: they may name files of other students. So does a fault of ours,
which may quote the solution's checks, and everything of a check that is not visible, but for its
points. Whoever sets a score is told that students are shown the reason.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from tutor.grading.result import CheckScore, Result
from tutor.report import Explanation


class Seen(Struct, frozen=True):
    """`checks` are the visible ones, `hidden` the points of the others, and of how many (`of`);
    `why` is what no check tells: what is wrong with the file, or why nothing of it ran;
    `explained` explains that."""

    checks: tuple[CheckScore, ...]
    hidden: int
    points: float
    of: float
    why: str
    explained: Explanation | None


def seen(result: Result) -> Seen:
    hidden = [check for check in result.checks if not check.visible]
    return Seen(
        tuple(_discreet(check, hidden) for check in result.checks if check.visible),
        len(hidden),
        sum(check.points for check in hidden),
        sum(check.max_points for check in hidden if not check.bonus),
        why := _why(result),
        result.explained if why else None,
    )


def _why(result: Result) -> str:
    if result.verdict == "internal":
        return ""
    # Where a check has failed, the fault repeats it, be it visible or not.
    told = any(check.status not in ("pass", "skipped") for check in result.checks)
    return "" if told else result.fault


def _discreet(check: CheckScore, hidden: Sequence[CheckScore]) -> CheckScore:
    """A skipped check says what it stands on."""
    if check.status != "skipped" or not any(other.name in check.message for other in hidden):
        return check
    return msgspec.structs.replace(check, message="needs a check to pass first that is not shown")
