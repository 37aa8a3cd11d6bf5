"""Lateness: a table of times, and the pack's penalty.

    submission,lesson,due,submitted_at
    *,,2026-03-01T23:59:00Z,
    Anna Lee,,,2026-03-02T10:00:00Z
    Ben,vmap-basics,2026-03-05T23:59:00Z,

A row applies to one submission or `*`, and to one lesson or, if that is empty, to all. For each of
the two times the most specific row counts: a row with `*` sets the deadline, one with a name grants
an extension. Submission times that come with the submissions are used if the table has none.
"""

import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

from tutor.grading.csv_table import read_rows
from tutor.grading.points import round_points
from tutor.grading.result import Late
from tutor.grading.student_names import normalize_name
from tutor.grading.submission_files import Unusable
from tutor.manifest import LatePenalty
from tutor.suggestions import nearest

COLUMNS = ("submission", "lesson", "due", "submitted_at")
WILDCARD = "*"
_DAY = 86400.0
_HOUR = 3600.0


class Times:
    """Due and submission times. `names` are the submissions that the table names.

    **Arguments:** `path`: the table, if there is one; `lessons`: the ids that it may name.

    Raises:
        tutor.grading.submission_files.Unusable: the table is not valid; with file, line and column.
    """

    def __init__(self, path: Path | None, lessons: Collection[str]) -> None:
        self._due: dict[tuple[str, str], datetime] = {}
        self._submitted: dict[tuple[str, str], datetime] = {}
        self.names: set[str] = set()
        for line, cells in read_rows(path, COLUMNS[:1], COLUMNS) if path is not None else ():
            location = f"{path}:{line}:1"
            name, lesson = normalize_name(cells["submission"]), cells["lesson"]
            if not name:
                raise Unusable(f"{location}: a row needs a submission, or {WILDCARD} for all")
            if lesson and lesson not in lessons:
                near = nearest(lesson, lessons)
                raise Unusable(f"{location}: the pack has no lesson {lesson!r}{near}")
            for column, times in (("due", self._due), ("submitted_at", self._submitted)):
                if not cells[column]:
                    continue
                if (name, lesson) in times:
                    raise Unusable(f"{location}: a second {column} for {name} {lesson}".rstrip())
                if (time := parse_time(cells[column])) is None:
                    raise Unusable(
                        f"{location}: {column}: {cells[column]!r} is not a time; "
                        "write it like 2026-03-01T23:59:00Z"
                    )
                times[name, lesson] = time
            self.names.add(name)
        self.names.discard(WILDCARD)

    def late(
        self,
        submission: str,
        lesson: str,
        submitted_at: str,
        penalty: LatePenalty,
        points: float,
        max_points: float,
    ) -> Late | None:
        """Return how late a submission is; None if it is not, or if a time is unknown.

        **Arguments:** `submitted_at`: the time that came with the submission; `points`: its score;
        `max_points`: the lesson's.
        """
        due = _most_specific(self._due, submission, lesson)
        submitted = _most_specific(self._submitted, submission, lesson) or parse_time(submitted_at)
        if due is None or submitted is None:
            return None
        seconds = (submitted - due).total_seconds()
        if seconds <= 0:
            return None
        days = seconds / _DAY
        late = f"{days:.1f} days late" if days >= 2 else f"{seconds / _HOUR:.1f} hours late"
        if seconds <= penalty.grace_hours * _HOUR:
            return Late(round_points(days), 0.0, f"{late}, within the grace period")
        percent = min(penalty.percent_per_day * math.ceil(days), penalty.most_percent)
        deduction = round_points(min(points, max_points * percent / 100))
        reason = f"{late}: {percent:g} % of {max_points:g} points deducted"
        return Late(round_points(days), deduction, reason)


def parse_time(text: str) -> datetime | None:
    """Return a time in ISO 8601 or as Gradescope writes it, in UTC if it has no time zone; None if
    it is neither."""
    iso = re.sub(r"\s+(UTC|Z)$|Z$", "+00:00", text.strip())
    iso = re.sub(r"(\.\d{6})\d+", r"\1", re.sub(r"\s+(?=[+-]\d\d)", "", iso))
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _most_specific(
    times: Mapping[tuple[str, str], datetime], name: str, lesson: str
) -> datetime | None:
    for key in ((name, lesson), (name, ""), (WILDCARD, lesson), (WILDCARD, "")):
        if key in times:
            return times[key]
    return None
