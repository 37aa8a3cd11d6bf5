"""A batch: every submission graded once, into the journal, and read from it in order."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from tutor.engine.versions import installed_versions
from tutor.grading.executors import Executor, Job, Quarantined
from tutor.grading.handed_in import Unreadable
from tutor.grading.journal import Journal, ResultKey, key_of
from tutor.grading.late import Times
from tutor.grading.points import marked, rounded
from tutor.grading.result import Result
from tutor.grading.submissions import Submission, SubmissionReader, by_name, source_text
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.plain_text import inert, one_line
from tutor.report import Report
from tutor.sandbox.packages import FOLDERS, sources

SEEDS = 1 << 53
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


class Order(Struct, frozen=True):
    """What to grade, and how. `only`: names of submissions, none if all; `resume`: take what the
    journal has of the same submission, lesson, seeds and versions."""

    lessons: tuple[str, ...]
    seed: int
    repeat: int = 1
    resume: bool = False
    only: frozenset[str] = frozenset()


class Grading:
    """Grades submissions into a journal. Nothing is kept in memory but names and places.

    **Arguments:** `heard`: told, in this thread, of each result, and whether it was known already;
    `stalled`: told, again and again, why nothing gets graded, if the executor says why.
    """

    def __init__(
        self,
        pack: Pack,
        order: Order,
        submissions: SubmissionReader,
        journal: Journal,
        executor: Executor,
        heard: Callable[[Result, bool], None] = lambda result, known: None,
        stalled: Callable[[str], None] = lambda why: None,
    ) -> None:
        self._pack = pack
        self._order = order
        self._submissions = submissions
        self._journal = journal
        self._executor = executor
        self._heard = heard
        self._stalled = stalled
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
                self._heard(known, True)
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
                code = source_text(data, submission.source)
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
            if why := self._executor.stalled():
                self._stalled(why)

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
        self._heard(result, False)

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
    return (first, *(int.from_bytes(digest[:8]) % SEEDS for digest in derived))


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


# --- afterwards ------------------------------------------------------------------------------


class BatchResults:
    """The results of a batch in order, each as it counts now: with a person's word, and with what
    lateness takes. Iterate as often as wanted; nothing is kept.

    **Arguments:** `lessons`: those whose submissions were looked for.
    """

    def __init__(
        self,
        pack: Pack,
        lessons: Collection[str],
        submissions: SubmissionReader,
        journal: Journal,
        times: Times,
    ) -> None:
        self._lessons = lessons
        self._journal = journal
        self._times = times
        self._penalty = pack.manifest.grading.late
        self._places = {lesson: place for place, lesson in enumerate(pack.lessons)}
        self._there = {(one.name, one.lesson): one.submitted_at for one in submissions.all}

    def __iter__(self) -> Iterator[Result]:
        for pair in sorted(self._journal, key=self._order):
            result = self._journal.result(*pair)
            assert result is not None
            yield self._final(result)

    def _order(self, pair: ResultKey) -> tuple[str, str, int, str]:
        name, lesson = pair
        return (*by_name(name), self._places.get(lesson, len(self._places)), lesson)

    def _final(self, result: Result) -> Result:
        pair = (result.submission, result.lesson)
        score, notes = result.score, result.notes
        late = self._times.late(
            *pair, self._there.get(pair, ""), self._penalty, score or 0.0, result.max_score
        )
        if score is not None and late is not None:
            score = rounded(score - late.penalty)
        if pair not in self._there and result.lesson in self._lessons:
            notes = (*notes, "it is no longer among the submissions; this is what it had")
        override = self._journal.overrides.get(pair)
        return msgspec.structs.replace(
            result, score=score, notes=notes, late=late, override=override
        )


def line_of(result: Result) -> bytes:
    """A line of `results.jsonl`: what was found, without how long it took, so that the same seed
    gives the same bytes. `score` is the one that counts; where a person has given it,
    `score_before` is what it was. The journal has the file's very name, this what can be shown."""
    data: dict[str, Any] = msgspec.to_builtins(result) | {"source": one_line(result.source)}
    del data["seconds"]
    for check in data["checks"]:
        del check["seconds"]
    if result.override is not None:
        data |= {"score": result.final, "score_before": result.score}
    return msgspec.json.encode(data) + b"\n"
