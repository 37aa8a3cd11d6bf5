"""A batch: every submission graded once, into the journal, and read from it in order."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from hashlib import sha256

from msgspec import Struct

from tutor.engine.versions import installed_versions
from tutor.grading.executors import Executor, Job, Quarantined
from tutor.grading.journal import Journal, key_of
from tutor.grading.points import marked, rounded
from tutor.grading.result import Result
from tutor.grading.submission_files import Unreadable
from tutor.grading.submissions import Submission, SubmissionReader, read_code
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.plain_text import inert
from tutor.report import Report
from tutor.sandbox.packages import FOLDERS, sources

SEED_LIMIT = 1 << 53
"""Hidden seeds are below it: every program that reads JSON has such numbers whole."""

MANY = 3
"""From so many submissions of a lesson on it pays to have its solution compiled first."""

STALLED_SECONDS = 5.0
"""When nothing has been graded for so long, the executor is asked why."""

_BESIDE = frozenset(
    [
        "title",
        "track",
        "needs",
        "sources",
        "minutes",
        "brief",
        "starter",
        "hints",
        "timed",
        "mistakes",
        "equivalent",
    ]
)
"""Fields of a lesson on which no result depends."""


_Running = Future[tuple[Report, ...]]


class BatchOptions(Struct, frozen=True):
    """What to grade, and how. `only`: names of submissions, none if all; `resume`: take what the
    journal has of the same submission, lesson, seeds and versions."""

    lessons: tuple[str, ...]
    seed: int
    repeat: int = 1
    resume: bool = False
    only: frozenset[str] = frozenset()


class BatchRunner:
    """Grades submissions into a journal. Only names and file offsets are kept in memory.

    **Arguments:** `on_result`: called in this thread with each result, and whether it was in the
    journal; `on_stall`: called every `STALLED_SECONDS` without a result, if the executor knows why.
    """

    def __init__(
        self,
        pack: Pack,
        order: BatchOptions,
        submissions: SubmissionReader,
        journal: Journal,
        executor: Executor,
        on_result: Callable[[Result, bool], None] = lambda result, known: None,
        on_stall: Callable[[str], None] = lambda why: None,
    ) -> None:
        self._pack = pack
        self._order = order
        self._submissions = submissions
        self._journal = journal
        self._executor = executor
        self._on_result = on_result
        self._on_stall = on_stall
        self._seeds = seeds(order.seed, order.repeat)
        self._versions = installed_versions()
        self._fingerprints: dict[str, str] = {}
        self._under_way: dict[_Running, _Task] = {}

    def run(self) -> None:
        """Grade everything that is not graded yet.

        Raises:
            KeyboardInterrupt: what is in the journal stays there.
        """
        waiting = self._waiting()
        lessons = [lesson for lesson in self._order.lessons if waiting.get(lesson)]
        ready: dict[str, _Running | None] = {}
        for place, lesson in enumerate(lessons):
            # The next lesson's, too, so that nobody waits between two lessons.
            for one in lessons[place : place + 2]:
                if one not in ready:
                    ready[one] = self._prepare(one, len(waiting[one]))
            broken = self._broken(lesson, ready.pop(lesson))
            for submission in waiting.pop(lesson):
                self._begin(submission, broken)
        while self._under_way:
            self._finish_some()

    # --- before ------------------------------------------------------------------------------

    def _waiting(self) -> dict[str, list[Submission]]:
        """What is to be graded, by lesson."""
        waiting: dict[str, list[Submission]] = defaultdict(list)
        for submission in self._submissions.all:
            if self._order.only and submission.name not in self._order.only:
                continue
            known = self._known(submission)
            if known is not None:
                self._on_result(known, True)
            else:
                waiting[submission.lesson].append(submission)
        return waiting

    def _known(self, submission: Submission) -> Result | None:
        """What the journal has, if it still holds. What was our own fault is worth another try."""
        pair = (submission.name, submission.lesson)
        if not self._order.resume or (key := self._journal.key(*pair)) is None:
            return None
        data, fault = self._read(submission)
        if key != self._key(submission, data, fault):
            return None
        result = self._journal.result(*pair)
        return result if result is not None and result.verdict != "internal" else None

    def _prepare(self, lesson: str, number: int) -> _Running | None:
        """What comes before the first submission of a lesson: its solution must pass under the very
        seeds, or something is wrong that is no submission's fault. PyTorch is asked meanwhile."""
        solution = self._pack.solution(lesson)
        if solution is None:
            return None
        return self._executor.submit(Job(lesson, solution, self._seeds, learn=number >= MANY))

    def _broken(self, lesson: str, prepared: _Running | None) -> str:
        """Why nothing of this lesson can be graded; empty if it can."""
        if prepared is None:
            return ""
        self._first_of([prepared])
        try:
            found = marked(self._pack.lesson(lesson), prepared.result())
        except Exception as error:  # noqa: BLE001 - as for a submission
            return _not_run(error)
        if found.verdict == "pass":
            return ""
        what = f"the solution of {lesson} does not pass itself: {found.fault}"
        return f"{what}. Run: jaxtutor pack test DIR {lesson}"

    # --- one submission ----------------------------------------------------------------------

    def _begin(self, submission: Submission, broken: str) -> None:
        while len(self._under_way) >= 2 * self._executor.width:
            self._finish_some()
        data, fault = self._read(submission)
        task = _Task(submission, sha256(data).hexdigest(), self._key(submission, data, fault))
        code = ""
        if not fault:
            try:
                code = read_code(data, submission.source)
            except Unreadable as error:
                fault = str(error)
        if fault or broken:
            self._keep(task, self._without_a_run(task, fault, broken))
        else:
            job = Job(submission.lesson, code, self._seeds)
            self._under_way[self._executor.submit(job)] = task

    def _finish_some(self) -> None:
        for future in self._first_of(self._under_way):
            task = self._under_way.pop(future)
            try:
                reports = future.result()
            except Quarantined as error:
                self._keep(task, self._without_a_run(task, str(error), ""))
            except Exception as error:  # noqa: BLE001 - one that cannot be run ends no batch
                self._keep(task, self._without_a_run(task, "", _not_run(error)))
            else:
                self._keep(task, self._result(task, reports))

    def _first_of(self, futures: Iterable[_Running]) -> set[_Running]:
        """Those that are done, as soon as there are any."""
        while True:
            done, _ = wait(futures, STALLED_SECONDS, FIRST_COMPLETED)
            if done:
                return done
            if why := self._executor.stall_reason():
                self._on_stall(why)

    def _result(self, task: "_Task", reports: Sequence[Report]) -> Result:
        submission = task.submission
        found = marked(self._pack.lesson(submission.lesson), reports)
        return Result(
            submission.name,
            submission.lesson,
            found.verdict,
            found.score,
            found.max_score,
            found.checks,
            seed=self._order.seed,
            notes=(*submission.notes, *found.notes),
            runs=len(reports),
            fault=found.fault,
            explained=found.explained,
            source_sha256=task.sha256,
            source=submission.source,
            seconds=round(sum(report.timings.total for report in reports), 4),
            versions=reports[0].versions,
        )

    def _without_a_run(self, task: "_Task", fault: str, broken: str) -> Result:
        """Nothing was run: because of the submission (`fault`), or of us (`broken`)."""
        submission = task.submission
        lesson = self._pack.lesson(submission.lesson)
        return Result(
            submission.name,
            submission.lesson,
            "ungraded" if fault else "internal",
            None,
            worth(lesson),
            seed=self._order.seed,
            notes=submission.notes,
            fault=inert(fault or broken),
            source_sha256=task.sha256,
            source=submission.source,
            versions=self._versions,
        )

    def _keep(self, task: "_Task", result: Result) -> None:
        self._journal.add(task.key, result)
        self._on_result(result, False)

    def _read(self, submission: Submission) -> tuple[bytes, str]:
        """What was handed in, and why it cannot be graded if so."""
        try:
            return self._submissions.read(submission.source), submission.fault
        except Unreadable as error:
            return b"", submission.fault or str(error)

    def _key(self, submission: Submission, data: bytes, fault: str) -> str:
        fixed = self._fingerprint(submission.lesson)
        about = [submission.name, submission.lesson, submission.source, submission.notes, fault]
        return key_of(about, sha256(data).hexdigest(), fixed, self._versions, self._seeds)

    def _fingerprint(self, lesson_id: str) -> str:
        if lesson_id not in self._fingerprints:
            self._fingerprints[lesson_id] = fingerprint(self._pack.lesson(lesson_id))
        return self._fingerprints[lesson_id]


class _Task(Struct, frozen=True):
    """A submission under way."""

    submission: Submission
    sha256: str
    key: str


def _not_run(error: Exception) -> str:
    return f"could not be run: {inert(str(error)) or type(error).__name__}"


def seeds(first: int, number: int) -> tuple[int, ...]:
    """Of the runs of a batch. The first is its own; the others follow from it."""
    derived = (sha256(f"{first}:{place}".encode()).digest() for place in range(1, number))
    return (first, *(int.from_bytes(digest[:8]) % SEED_LIMIT for digest in derived))


def worth(lesson: Lesson) -> float:
    """The points of a lesson, without bonuses."""
    return rounded(sum(check.points for check in lesson.checks if not check.bonus))


def fingerprint(lesson: Lesson) -> str:
    """Changes whenever something does on which a result may depend: the kinds of checks that other
    distributions bring, too. Our own code has a version."""
    fields = {
        name: repr(getattr(lesson, name))
        for name in lesson.__struct_fields__
        if name not in _BESIDE
    }
    brought = [path.read_bytes() for name in sorted(FOLDERS) for path in sources(FOLDERS[name])]
    return key_of(fields, [sha256(data).hexdigest() for data in brought])
