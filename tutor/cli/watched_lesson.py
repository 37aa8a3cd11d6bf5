"""The lesson that `watch` is about: its file, its runs and the last report.

Runs happen in the runner's thread and report to an inbox; everything here belongs to the thread
that prints.
"""

from tutor.cli.inbox import Inbox
from tutor.cli.watch_output import Output
from tutor.engine.background import RunEvent, RunFinished, Runner
from tutor.foreign.source_text import BadFile, read_source
from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.lesson import Lesson
from tutor.pool.pool import Pool
from tutor.report import Report

INTERVAL = 0.2
"""Seconds between polls of the file. Polling works on every file system, and costs one `stat`."""

_UNKNOWN: tuple[int, ...] = ()


class WatchedLesson:
    """Checks the learner's file of a lesson when it changes, and prints what happens."""

    def __init__(
        self,
        output: Output,
        lesson: Lesson,
        seed: int,
        pool: Pool,
        runner: Runner,
        inbox: Inbox[RunEvent],
    ) -> None:
        self.pack = output.pack
        self._output = output
        self._seed = seed
        self._pool = pool
        self._runner = runner
        self._inbox = inbox
        self.open(lesson)

    def open(self, lesson: Lesson) -> None:
        """Watch this lesson from now on. Its file is made from the starter if there is none."""
        self._runner.stop()
        self.lesson = lesson
        self.path = Workspace(self.pack).path(lesson)
        self.report: Report | None = None
        """Of the file as it is; None during a run, and if there is nothing to run."""
        self.running = False
        self._run = 0
        self._code = ""
        self._stamp: tuple[int, ...] | None = _UNKNOWN
        self._fault = ""
        self._output.open(lesson)
        try:
            Workspace(self.pack).open(lesson)
        except BadFile:
            pass  # reported when it is checked
        except OSError as error:
            self._fault = f"{self.path} could not be created: {error.strerror}"
        with Progress() as progress:
            progress.opened(self.pack.id, lesson.id)
            self._report_notices(progress)
        self._pool.expect([(lesson, self.pack.sample_submissions(lesson.id))], self._seed)

    @property
    def done(self) -> bool:
        """Whether the lesson has passed, now or earlier, or cannot be judged on this machine."""
        if self.report is not None and self.report.verdict == "internal":
            return True
        with Progress() as progress:
            return progress.passed(self.pack.id, self.lesson.id)

    def changed(self) -> bool:
        """Return whether the file is another than when this was asked last."""
        before, self._stamp = self._stamp, self._stat()
        return self._stamp != before

    def check_if_changed(self) -> None:
        if self.changed():
            self.check()

    def check(self) -> None:
        """Check the file now, in place of the run in progress."""
        self._runner.stop()
        self.running, self.report, self._run = False, None, 0
        try:
            code = read_source(self.path)
        except FileNotFoundError:
            self._output.begin(None)
            self._output.say(self._fault or f"{self.path} is missing; waiting for it to be saved")
        except BadFile as error:
            self._output.begin(None)
            self._output.say(str(error))
        except OSError as error:
            self._output.begin(None)
            self._output.say(self._fault or f"{self.path}: {error.strerror}")
        else:
            self._output.begin(code)
            self.running = True
            self._code = code
            self._run = self._runner.run(self.lesson, code, self._inbox.put, self._seed)

    def handle(self, event: RunEvent) -> None:
        """Print an event of the current run, and record its result."""
        if event.number != self._run:
            return
        if not isinstance(event, RunFinished):
            self._output.show(event)
            return
        self.running, self.report = False, event.report
        with Progress() as progress:
            progress.record(self.pack.id, event.report, self._code)
            self._output.show(event)
            self._report_notices(progress)
        self._output.end()

    def _report_notices(self, progress: Progress) -> None:
        for notice in progress.notices:
            self._output.say(notice)

    def _stat(self) -> tuple[int, ...] | None:
        """Return the file's times, size and inode; None if it is missing."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)
