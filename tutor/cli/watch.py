"""The loop of `jaxtutor watch`: check a file every time it is saved."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from rich.console import Console

from tutor import render
from tutor.engine.background import (
    CheckFinished,
    RaceFinished,
    ReferenceNeeded,
    RunEvent,
    RunFinished,
    Runner,
)
from tutor.foreign.source_text import BadFile, read_source
from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.pool import Pool
from tutor.report import Report

INTERVAL = 0.2
"""Seconds between polls of the file. Polling works on every file system, and costs one `stat`."""


def watch(pack: Pack, lesson: Lesson, seed: int, offer: Callable[[int], str]) -> None:
    """Check now and after every save, until Ctrl-C. A save cancels the run in progress.

    **Arguments:** `offer`: returns a line that offers the failure hint with this number.
    """
    path = Workspace(pack).path(lesson)
    out = render.console()
    printer = _Printer(pack, lesson, out, offer)
    with Pool() as pool, closing(Runner(pool)) as runner:
        pool.expect([(lesson, pack.sample_submissions(lesson.id))], seed)
        for stamp in _changes(path):
            runner.stop()
            out.print(f"── {lesson.id}  {time.strftime('%H:%M:%S')} ──", style="dim")
            if stamp is None:
                out.print(f"{path} is missing; waiting for it to be saved")
                continue
            try:
                code = read_source(path)
            except (BadFile, OSError) as error:
                out.print(str(error), markup=False)
                continue
            runner.run(lesson, code, printer.print, seed)


class _Printer:
    """Prints what happens, in the runner's thread."""

    def __init__(
        self, pack: Pack, lesson: Lesson, out: Console, offer: Callable[[int], str]
    ) -> None:
        self._pack = pack
        self._lesson = lesson
        self._lessons = pack.others(lesson.id)
        self._out = out
        self._offer = offer
        self._passed = False

    def print(self, event: RunEvent) -> None:
        out = self._out
        match event:
            case ReferenceNeeded():
                out.print("Running this lesson's PyTorch; the results are cached.", style="dim")
            case CheckFinished(result=result):
                out.print(render.check(result, self._lessons))
            case RunFinished(report=report):
                out.print(render.rest(report, self._lessons))
                self._print_advice(report)
                out.print("Waiting for the next save; press Ctrl-C to stop.", style="dim")
                with Progress() as progress:
                    progress.record(self._pack.id, report)
                    for notice in progress.notices:
                        out.print(notice, markup=False)
            case RaceFinished(report=report):
                out.print(render.race(report), style="dim", markup=False)

    def _print_advice(self, report: Report) -> None:
        """Print the text after a pass, unless the last run passed, too; else offer a hint."""
        if report.verdict == "internal":
            return
        passed_before, self._passed = self._passed, report.passed
        if report.passed and not passed_before and self._lesson.after_pass is not None:
            self._out.print()
            self._out.print(render.PackText(self._lesson.after_pass, indent=0))
            self._out.print()
        elif number := self._lesson.failure_hint(report):
            self._out.print(self._offer(number), style="dim", markup=False)


def _changes(path: Path) -> Iterator[tuple[int, ...] | None]:
    """Yield the file's times, size and inode when they change; None when it is missing."""
    last: tuple[int, ...] | None = ()
    while True:
        stamp: tuple[int, ...] | None
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            stamp = None
        if stamp != last:
            last = stamp
            yield stamp
        time.sleep(INTERVAL)
