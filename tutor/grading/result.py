"""Grading results: plain frozen data that round-trips through JSON.

The journal contains `Result`s, `results.jsonl` has one per line, and every other output is a pure
function of them.
"""

from typing import Literal

from msgspec import Struct

from tutor.report import Called, Curves, Explanation, Look, Status

Grade = Literal["pass", "fail", "error", "internal", "ungraded"]
"""The verdict on a submission to a lesson. `pass`: every check except bonuses passed. `fail`,
`error` and `internal` are as in a report. `ungraded`: nothing could be run; `fault` says why."""


class CheckScore(Struct, frozen=True):
    """The outcome of one check. The points of a `bonus` come on top of the lesson's. Students may
    not see a check that is not `visible`. `values` and `help`: as in `tutor.report.Fault`."""

    name: str
    kind: str
    status: Status
    points: float
    max_points: float
    bonus: bool = False
    message: str = ""
    values: tuple[str, ...] = ()
    case: str = ""
    seconds: float = 0.0
    visible: bool = True
    explained: Explanation | None = None
    curves: Curves | None = None
    help: Called | None = None


class Late(Struct, frozen=True):
    """A late submission: the delay, and the points deducted for it."""

    days: float
    penalty: float
    reason: str


class Override(Struct, frozen=True):
    """A score set by a person. `at` is a time in ISO 8601."""

    score: float
    reason: str
    by: str
    at: str


class Result(Struct, frozen=True):
    """The result of one submission to one lesson.

    `score` is None if a person has to review it: a submission that could not be graded never gets
    0. The penalty for lateness is already deducted. `notes` explain the score: partial credit, a
    flaky pass, a file with another name. `seed` is the batch's, `runs` the number of runs
    (`--repeat`); `source` is the file's path inside the submissions. `explained` explains code that
    could not be run, and `values` and `help` belong to its fault; those of a check are in the
    check. `looks` need review, whatever the score.
    """

    submission: str
    lesson: str
    verdict: Grade
    score: float | None
    max_score: float
    checks: tuple[CheckScore, ...] = ()
    seed: int = 0
    notes: tuple[str, ...] = ()
    late: Late | None = None
    override: Override | None = None
    runs: int = 0
    fault: str = ""
    values: tuple[str, ...] = ()
    explained: Explanation | None = None
    help: Called | None = None
    source_sha256: str = ""
    source: str = ""
    seconds: float = 0.0
    versions: dict[str, str] = {}
    looks: tuple[Look, ...] = ()

    @property
    def final(self) -> float | None:
        """The score that counts: the override, if there is one."""
        return self.override.score if self.override is not None else self.score


class Batch(Struct, frozen=True):
    """All results, ordered by submission, then by lesson.

    `problems` are unmatched files, with what to do; `started` is a time in ISO 8601. For large
    batches the writers get a `Batch` without results, and the results one at a time. `lang` is the
    language of the pack's texts.
    """

    pack: str
    pack_version: str
    seed: int
    lessons: tuple[str, ...]
    results: tuple[Result, ...] = ()
    problems: tuple[str, ...] = ()
    started: str = ""
    lang: str = "en"
