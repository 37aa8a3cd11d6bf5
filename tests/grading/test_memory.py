"""What a batch keeps in memory is names and places, not what was handed in or found."""

import gc
import tracemalloc
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Self

from tests.grading.outputs.conftest import Texts
from tutor.grading.batch import BatchOptions, BatchRunner
from tutor.grading.batch_results import BatchResults
from tutor.grading.executors import Job
from tutor.grading.journal import Journal
from tutor.grading.late import Times
from tutor.grading.matching import Submission
from tutor.grading.result import Batch
from tutor.grading.results_file import write_results
from tutor.manifest import Pack
from tutor.report import CheckResult, Report

SOURCE = 20_000
"""Bytes of each submission, and of what is said of each."""

KEPT = 2_000
"""Bytes that a submission may cost."""


class AtOnce:
    """An executor that answers at once, and at length."""

    width = 4

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def stall_reason(self) -> str:
        return ""

    def submit(self, job: Job) -> "Future[tuple[Report, ...]]":
        checks = tuple(
            CheckResult(name, "value", "pass" if "pass" in job.code else "fail", "n" * SOURCE)
            for name in ("value", "again")
        )
        verdict = "pass" if "pass" in job.code else "fail"
        future: Future[tuple[Report, ...]] = Future()
        future.set_result((Report("double", verdict, checks),))
        return future


class Many:
    """Submissions that are made when they are read."""

    def __init__(self, number: int) -> None:
        self.all: Sequence[Submission] = [
            Submission(f"student {place:06}", "double", f"{place:06}/double.py")
            for place in range(number)
        ]

    def read(self, source: str) -> bytes:
        return f"# {'pass' if int(source[:6]) % 2 else 'wrong'}\n".encode() * (SOURCE // 8)


def most(number: int, mini: Pack, folder: Path) -> int:
    """Bytes at the worst moment of grading so many and of writing about them."""
    handed_in = Many(number)
    gc.collect()
    tracemalloc.start()
    try:
        with Journal(folder) as journal:
            order = BatchOptions(("double",), 5)
            BatchRunner(mini, order, handed_in, journal, AtOnce()).run()
            results = BatchResults(mini, order.lessons, handed_in, journal, Times(None, ()))
            batch = Batch("mini", "", 5, order.lessons)
            summary = write_results(batch, results, folder, ["gradebook.csv"], Texts())
        assert summary.results == number
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_what_is_handed_in(mini: Pack, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(Pack, "solution", lambda self, lesson: None)
    most(10, mini, tmp_path / "first")  # what is imported and remembered once
    few, many = most(50, mini, tmp_path / "few"), most(550, mini, tmp_path / "many")
    assert (many - few) / 500 < KEPT
