"""What grading found, as plain frozen data that survives JSON both ways.

The journal holds `Result`s, `results.jsonl` holds one to a line, and every other output is a pure
function of them.
"""

from typing import Literal

from msgspec import Struct

from tutor.report import Explanation, Status

Grade = Literal["pass", "fail", "error", "internal", "ungraded"]
"""Of one submission to one lesson. `pass`: every check that is no bonus has passed. `fail`, `error`
and `internal` mean what they mean in a report. `ungraded`: nothing was run, because there was
nothing that could be; `fault` says why."""


class CheckScore(Struct, frozen=True):
    """What one check gave. `points` of `max_points`; those of a `bonus` are on top of the
    lesson's. A check that is not `visible` is one that the pack does not let students see."""

    name: str
    kind: str
    status: Status
    points: float
    max_points: float
    bonus: bool = False
    message: str = ""
    case: str = ""
    seconds: float = 0.0
    visible: bool = True
    explained: Explanation | None = None


class Late(Struct, frozen=True):
    """How late it was, and how many points were taken for it."""

    days: float
    penalty: float
    reason: str


class Override(Struct, frozen=True):
    """A score that a person gave instead. `at` is a time as in ISO 8601."""

    score: float
    reason: str
    by: str
    at: str


class Result(Struct, frozen=True):
    """One submission to one lesson.

    `score` is None where a person has to look: nothing that could not be graded is worth 0. Points
    for lateness are taken from it already. `notes` tell why it is what it is: partial credit, a
    pass by luck, a file that had another name. `seed` is that of the batch, `runs` how many runs
    there were (`--repeat`); `source` is where the file was inside the submissions. `explained`
    is for code that could not be run; what a check found is explained there.
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
    explained: Explanation | None = None
    source_sha256: str = ""
    source: str = ""
    seconds: float = 0.0
    versions: dict[str, str] = {}

    @property
    def final(self) -> float | None:
        """The score that counts: the person's, if one has given any."""
        return self.override.score if self.override is not None else self.score


class Batch(Struct, frozen=True):
    """All results, in the order of the submissions, then of the lessons.

    `problems` are files that are nobody's submission, with what to do about them; `started` is a
    time as in ISO 8601. Where there may be very many results, writers get the batch without any
    and the results one by one.
    """

    pack: str
    pack_version: str
    seed: int
    lessons: tuple[str, ...]
    results: tuple[Result, ...] = ()
    problems: tuple[str, ...] = ()
    started: str = ""
