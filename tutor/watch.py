"""`jaxtutor watch`: check a file every time it is saved."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from tutor import render
from tutor.engine import Cancel, Cancelled, run
from tutor.lesson import Lesson, Pack
from tutor.progress import Progress
from tutor.workspace import BadFile, Workspace, read_source

INTERVAL = 0.2
"""Seconds between two looks at the file. Looking works with every editor and file system, and
costs one `stat`."""


def watch(pack: Pack, lesson: Lesson, seed: int) -> None:
    """Check now, and again after every save, until Ctrl-C. A save replaces the run that is
    still going on."""
    path = Workspace(pack).path(lesson)
    out = render.console()
    current: _Run | None = None
    try:
        for stamp in _changes(path):
            if current is not None:
                current.stop()
            out.print(f"── {lesson.id}  {time.strftime('%H:%M:%S')} ──", style="dim")
            if stamp is None:
                out.print(f"{path} is gone; waiting for it to come back")
                current = None
                continue
            try:
                code = read_source(path)
            except (BadFile, OSError) as error:
                out.print(str(error), markup=False)
                current = None
                continue
            current = _Run(pack, lesson, code, seed, out)
    finally:
        if current is not None:
            current.stop()


class _Run:
    """One check in the background."""

    def __init__(self, pack: Pack, lesson: Lesson, code: str, seed: int, out: Console) -> None:
        self._cancel = Cancel()
        self._thread = threading.Thread(
            target=self._check, args=(pack, lesson, code, seed, out), name="check"
        )
        self._thread.start()

    def stop(self) -> None:
        """End it, and wait until nothing of it is left."""
        self._cancel.cancel()
        self._thread.join()

    def _check(self, pack: Pack, lesson: Lesson, code: str, seed: int, out: Console) -> None:
        try:
            report = run(
                lesson,
                code,
                seed=seed,
                on_result=lambda result: out.print(render.check(result)),
                cancel=self._cancel,
            )
        except Cancelled:
            return
        out.print(render.rest(report))
        out.print("Waiting for the next save; Ctrl-C ends.", style="dim")
        with Progress() as progress:
            progress.record(pack.id, report)
            for notice in progress.notices:
                out.print(notice, markup=False)


def _changes(path: Path) -> Iterator[tuple[int, ...] | None]:
    """The file's stamp whenever it is another one; None when the file is gone."""
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
