"""Grading a batch: every submission once, into the journal."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from tutor.engine.versions import installed_versions
from tutor.foreign.plain_text import inert
from tutor.grading.executors import Executor, Job, Quarantined
from tutor.grading.journal import Journal, key_of
from tutor.grading.matching import Submission
from tutor.grading.points import mark_reports, round_points
from tutor.grading.result import Result
from tutor.grading.submission_files import Unreadable
from tutor.grading.submissions import SubmissionReader, read_code
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack.places import Places, pack_fault
from tutor.report import Report
from tutor.requirements import versions
from tutor.sandbox.packages import FOLDERS, sources

SEED_LIMIT = 1 << 53
"""Hidden seeds are below it, so that every JSON reader keeps them exactly."""

VARIANT_FROM = 25
"""The number of submissions to a lesson for which compiling one of its variants pays off. Of some
200 programs that an answer in an unknown style needs, those of three variants spare it about 14,
each of 8 ms; to compile a variant takes 2 s."""

STALLED_SECONDS = 5.0
"""After so long without a result, the executor is asked for the reason."""

_IRRELEVANT_FIELDS = frozenset({
    "title", "track", "needs", "sources", "minutes", "brief", "starter", "hints", "failure_hints",
    "after_pass", "timed", "mistakes", "equivalent", "recorded",
})  # fmt: skip
"""Fields of a lesson that no result depends on."""

_Running = Future[tuple[Report, ...]]


class BatchOptions(Struct, frozen=True):
    """Options of a grading run. `only`: names of submissions, or all if empty; `resume`: reuse
    results in the journal for the same submission, lesson, seeds and versions."""

    lessons: tuple[str, ...]
    seed: int
    repeat: int = 1
    resume: bool = False
    only: frozenset[str] = frozenset()


class BatchRunner:
    """Grades submissions into a journal. Only names and file offsets are kept in memory.

    **Arguments:** `on_result`: called in this thread with each result, and whether it was in the
    journal; `on_stall`: called repeatedly, with the reason, while the executor is stalled.
    """

    def __init__(
        self,
        pack: Pack,
        options: BatchOptions,
        submissions: SubmissionReader,
        journal: Journal,
        executor: Executor,
        on_result: Callable[[Result, bool], None] = lambda result, known: None,
        on_stall: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self._pack = pack
        self._options = options
        self._submissions = submissions
        self._journal = journal
        self._executor = executor
        self._on_result = on_result
        self._on_stall = on_stall
        self._seeds = run_seeds(options.seed, options.repeat)
        self._versions = installed_versions()
        self._lesson_hashes: dict[str, str] = {}
        self._pending: dict[_Running, _Pending] = {}

    def run(self) -> None:
        """Grade everything that is not graded yet.

        Raises:
            KeyboardInterrupt: the journal keeps what was graded.
        """
        ungraded = self._ungraded()
        lessons = [lesson for lesson in self._options.lessons if ungraded.get(lesson)]
        solutions: dict[str, _Running | None] = {}
        for index, lesson in enumerate(lessons):
            # Start the next lesson's solution too, so that it is ready in time.
            for one in lessons[index : index + 2]:
                if one not in solutions:
                    solutions[one] = self._run_solution(one, len(ungraded[one]))
            broken = self._lesson_fault(lesson, solutions.pop(lesson))
            for submission in ungraded.pop(lesson):
                self._submit(submission, broken)
        while self._pending:
            self._collect()

    # --- before submissions ------------------------------------------------------------------

    def _ungraded(self) -> dict[str, list[Submission]]:
        """Return the submissions to grade, by lesson."""
        ungraded: dict[str, list[Submission]] = defaultdict(list)
        for submission in self._submissions.all:
            if self._options.only and submission.name not in self._options.only:
                continue
            known = self._known(submission)
            if known is not None:
                self._on_result(known, True)
            else:
                ungraded[submission.lesson].append(submission)
        return ungraded

    def _known(self, submission: Submission) -> Result | None:
        """Return the result in the journal, if it is still valid. Internal errors are retried."""
        result_id = (submission.name, submission.lesson)
        if not self._options.resume or (key := self._journal.key(*result_id)) is None:
            return None
        data, fault = self._read(submission)
        if key != self._key(submission, data, fault):
            return None
        result = self._journal.result(*result_id)
        return result if result is not None and result.verdict != "internal" else None

    def _run_solution(self, lesson: str, count: int) -> _Running | None:
        """Run the lesson's solution: it must pass with the same seeds, or the lesson is broken.
        This also computes PyTorch's answers."""
        solution = self._pack.solution(lesson)
        if solution is None:
            return None
        variants = tuple(self._pack.sample_submissions(lesson)[1 : 1 + count // VARIANT_FROM])
        return self._executor.submit(
            Job(lesson, solution, self._seeds, learn=True, variants=variants)
        )

    def _lesson_fault(self, lesson: str, solution: _Running | None) -> str:
        """Return why nothing of this lesson can be graded; empty if it can."""
        if solution is None:
            return ""
        self._wait([solution])
        try:
            reports = solution.result()
            marks = mark_reports(self._pack.lesson(lesson), reports)
        except Exception as error:  # noqa: BLE001 - as for a submission
            return _not_run(error)
        if marks.verdict == "pass":
            return ""
        if skipped := next((one.skipped for one in reports if one.skipped), ""):
            return f"the lesson {skipped}"
        place = self._place(lesson, reports)
        what = f"{place}the lesson's own solution does not pass: {marks.fault}"
        return f"{what}. Run: jaxtutor pack test DIR {lesson}"

    def _place(self, lesson_id: str, reports: Sequence[Report]) -> str:
        """Return where in the pack the fault is that kept an answer from being judged, or the first
        check that did not pass, as `file:line: `."""
        lesson = self._pack.lesson(lesson_id)
        places = Places(self._pack, lesson, within_pack=True)
        for report in reports:
            if (fault := pack_fault(report)) is not None:
                return f"{places.of_fault(report, fault)}: "
        for report in reports:
            if report.fault is None and (failure := report.first_failure) is not None:
                return f"{places.of_check(failure.names[0])}: "
        return ""

    # --- one submission ----------------------------------------------------------------------

    def _submit(self, submission: Submission, broken: str) -> None:
        while len(self._pending) >= 2 * self._executor.width:
            self._collect()
        data, fault = self._read(submission)
        key = self._key(submission, data, fault)
        pending = _Pending(submission, sha256(data).hexdigest(), key)
        code = ""
        if not fault:
            try:
                code = read_code(data, submission.source)
            except Unreadable as error:
                fault = str(error)
        if fault:
            self._add(pending, self._ungraded_result(pending, fault))
        elif broken:
            self._add(pending, self._internal_result(pending, broken))
        else:
            job = Job(submission.lesson, code, self._seeds)
            self._pending[self._executor.submit(job)] = pending

    def _collect(self) -> None:
        """Add at least one finished submission to the journal."""
        for future in self._wait(self._pending):
            pending = self._pending.pop(future)
            try:
                reports = future.result()
            except Quarantined as error:
                self._add(pending, self._ungraded_result(pending, str(error)))
            except Exception as error:  # noqa: BLE001 - one failed job must not end the batch
                self._add(pending, self._internal_result(pending, _not_run(error)))
            else:
                self._add(pending, self._result(pending, reports))

    def _wait(self, futures: Iterable[_Running]) -> set[_Running]:
        """Return the finished ones as soon as there are any."""
        while True:
            done, _ = wait(futures, STALLED_SECONDS, FIRST_COMPLETED)
            if done:
                return done
            if reason := self._executor.stall_reason():
                self._on_stall(reason)

    def _result(self, pending: "_Pending", reports: Sequence[Report]) -> Result:
        submission = pending.submission
        marks = mark_reports(self._pack.lesson(submission.lesson), reports)
        place = self._place(submission.lesson, reports) if marks.verdict == "internal" else ""
        return Result(
            submission.name,
            submission.lesson,
            marks.verdict,
            marks.score,
            marks.max_score,
            marks.checks,
            seed=self._options.seed,
            notes=(*submission.notes, *marks.notes),
            runs=len(reports),
            fault=f"{place}{marks.fault}",
            values=marks.values,
            explained=marks.explained,
            help=marks.help,
            looks=marks.looks,
            source_sha256=pending.sha256,
            source=submission.source,
            seconds=round(sum(report.timings.total for report in reports), 4),
            versions=reports[0].versions,
        )

    def _ungraded_result(self, pending: "_Pending", fault: str) -> Result:
        """Return the result of a submission that could not be run, because of the submission."""
        submission = pending.submission
        return Result(
            submission.name,
            submission.lesson,
            "ungraded",
            None,
            max_points(self._pack.lesson(submission.lesson)),
            seed=self._options.seed,
            notes=submission.notes,
            fault=inert(fault),
            source_sha256=pending.sha256,
            source=submission.source,
            versions=self._versions,
        )

    def _internal_result(self, pending: "_Pending", fault: str) -> Result:
        """Return the result of a submission that could not be run, because of jaxtutor or the
        pack."""
        return replace(self._ungraded_result(pending, fault), verdict="internal")

    def _add(self, pending: "_Pending", result: Result) -> None:
        self._journal.add(pending.key, result)
        self._on_result(result, False)

    def _read(self, submission: Submission) -> tuple[bytes, str]:
        """Return a submission's file, and why it cannot be graded, if so."""
        try:
            return self._submissions.read(submission.source), submission.fault
        except Unreadable as error:
            return b"", submission.fault or str(error)

    def _key(self, submission: Submission, data: bytes, fault: str) -> str:
        about = [submission.name, submission.lesson, submission.source, submission.notes, fault]
        lesson = self._lesson_hash(submission.lesson)
        return key_of(about, sha256(data).hexdigest(), lesson, self._versions, self._seeds)

    def _lesson_hash(self, lesson_id: str) -> str:
        if lesson_id not in self._lesson_hashes:
            self._lesson_hashes[lesson_id] = lesson_hash(self._pack.lesson(lesson_id))
        return self._lesson_hashes[lesson_id]


class _Pending(Struct, frozen=True):
    """A submission that the executor is running."""

    submission: Submission
    sha256: str
    key: str


def _not_run(error: Exception) -> str:
    return f"could not be run: {inert(str(error)) or type(error).__name__}"


def run_seeds(first: int, count: int) -> tuple[int, ...]:
    """Return the seeds of the runs of a batch: the batch's own, and others derived from it."""
    derived = (sha256(f"{first}:{number}".encode()).digest() for number in range(1, count))
    return (first, *(int.from_bytes(digest[:8]) % SEED_LIMIT for digest in derived))


def max_points(lesson: Lesson) -> float:
    """Return the points of a lesson without bonuses."""
    return round_points(sum(check.points for check in lesson.checks if not check.bonus))


def lesson_hash(lesson: Lesson) -> str:
    """Return a hash that changes with anything that a result may depend on, including the source of
    plugin checks and the versions of required packages. jaxtutor's own code is covered by its
    version."""
    fields = {
        name: repr(getattr(lesson, name))
        for name in lesson.__struct_fields__
        if name not in _IRRELEVANT_FIELDS
    }
    plugins = [path.read_bytes() for name in sorted(FOLDERS) for path in sources(FOLDERS[name])]
    required = versions(lesson.requires)
    return key_of(fields, [sha256(data).hexdigest() for data in plugins], required)
