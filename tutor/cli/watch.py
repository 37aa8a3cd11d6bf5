"""The loop of `jaxtutor watch`: check a file every time it is saved."""

import time
from collections.abc import Collection, Iterator
from contextlib import closing
from functools import partial
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

INTERVAL = 0.2
"""Seconds between polls of the file. Polling works on every file system, and costs one `stat`."""


def watch(pack: Pack, lesson: Lesson, seed: int) -> None:
    """Check now and after every save, until Ctrl-C. A save cancels the run in progress."""
    path = Workspace(pack).path(lesson)
    lessons = pack.others(lesson.id)
    out = render.console()
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
            runner.run(lesson, code, partial(_print_event, pack, lessons, out), seed)


def _print_event(pack: Pack, lessons: Collection[str], out: Console, event: RunEvent) -> None:
    match event:
        case ReferenceNeeded():
            out.print("Running this lesson's PyTorch; the results are cached.", style="dim")
        case CheckFinished(result=result):
            out.print(render.check(result, lessons))
        case RunFinished(report=report):
            out.print(render.rest(report, lessons))
            out.print("Waiting for the next save; press Ctrl-C to stop.", style="dim")
            with Progress() as progress:
                progress.record(pack.id, report)
                for notice in progress.notices:
                    out.print(notice, markup=False)
        case RaceFinished(report=report):
            out.print(render.race(report), style="dim", markup=False)


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
