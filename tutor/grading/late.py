"""Lateness: a table of times, and what the pack takes for it.

    submission,lesson,due,submitted_at
    *,,2026-03-01T23:59:00Z,
    Anna Lee,,,2026-03-02T10:00:00Z
    Ben,vmap-basics,2026-03-05T23:59:00Z,

A row holds for a submission or `*`, for a lesson or, where that is empty, for all; what is nearest
to the case counts, for each of both times by itself. So a row with `*` sets the day, one with a
name an extension. Times of handing in that the submissions themselves come with are used where the
table has none.
"""

import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

from tutor.grading.points import rounded
from tutor.grading.result import Late
from tutor.grading.student_names import normalize_name
from tutor.grading.submission_files import Unusable
from tutor.grading.table import rows_of
from tutor.manifest import LatePenalty
from tutor.suggestions import nearest

COLUMNS = ("submission", "lesson", "due", "submitted_at")
EVERYBODY = "*"
_DAY = 86400.0
_HOUR = 3600.0


class Times:
    """When what was due, and was handed in.

    **Arguments:** `path`: the table, None if there is none; `lessons`: ids that it may name.

    Raises:
        tutor.grading.submission_files.Unusable: it is no such table; with file, line and column.
    """

    def __init__(self, path: Path | None, lessons: Collection[str]) -> None:
        self._due: dict[tuple[str, str], datetime] = {}
        self._submitted: dict[tuple[str, str], datetime] = {}
        self.names: set[str] = set()
        for line, cells in rows_of(path, COLUMNS[:1], COLUMNS) if path is not None else ():
            place = f"{path}:{line}:1"
            lesson, key = cells["lesson"], (normalize_name(cells["submission"]), cells["lesson"])
            if not key[0]:
                raise Unusable(f"{place}: a row needs a submission, or * for all")
            if lesson and lesson not in lessons:
                near = nearest(lesson, lessons)
                raise Unusable(f"{place}: the pack has no lesson {lesson!r}{near}")
            for column, times in (("due", self._due), ("submitted_at", self._submitted)):
                if not cells[column]:
                    continue
                if key in times:
                    raise Unusable(f"{place}: a second {column} for {key[0]} {lesson}".rstrip())
                if (time := moment(cells[column])) is None:
                    what = f"{column}: {cells[column]!r} is no time"
                    raise Unusable(f"{place}: {what}; write it like 2026-03-01T23:59:00Z")
                times[key] = time
            self.names.add(key[0])
        self.names.discard(EVERYBODY)

    def late(
        self,
        submission: str,
        lesson: str,
        told: str,
        penalty: LatePenalty,
        points: float,
        most: float,
    ) -> Late | None:
        """How late it was; None if it was not, or nobody knows.

        **Arguments:** `text`: when it was handed in, as the submissions tell it; `points`: what it
        has; `most`: what the lesson is worth.
        """
        due = _nearest(self._due, submission, lesson)
        submitted = _nearest(self._submitted, submission, lesson) or moment(told)
        if due is None or submitted is None:
            return None
        seconds = (submitted - due).total_seconds()
        if seconds <= 0:
            return None
        days = seconds / _DAY
        about = f"{days:.1f} days" if days >= 2 else f"{seconds / _HOUR:.1f} hours"
        if seconds <= penalty.grace_hours * _HOUR:
            return Late(rounded(days), 0.0, f"{about} late, within the grace of the pack")
        percent = min(penalty.percent_per_day * math.ceil(days), penalty.most_percent)
        taken = rounded(min(points, most * percent / 100))
        return Late(rounded(days), taken, f"{about} late: {percent:g} % of {most:g} points taken")


def moment(text: str) -> datetime | None:
    """A time as in ISO 8601, or as Gradescope writes it; without a zone it is UTC's."""
    plain = re.sub(r"\s+(UTC|Z)$|Z$", "+00:00", text.strip())
    plain = re.sub(r"(\.\d{6})\d+", r"\1", re.sub(r"\s+(?=[+-]\d\d)", "", plain))
    try:
        found = datetime.fromisoformat(plain)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _nearest(times: Mapping[tuple[str, str], datetime], name: str, lesson: str) -> datetime | None:
    for key in ((name, lesson), (name, ""), (EVERYBODY, lesson), (EVERYBODY, "")):
        if key in times:
            return times[key]
    return None
