"""Grading keeps names and file offsets in memory, not submissions or results."""

import gc
import tracemalloc
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Self

from tests.grading.outputs.conftest import FakeCodeReader
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
"""Bytes of each submission, and of its messages."""

KEPT = 2_000
"""Bytes of memory that a submission may take."""


class ImmediateExecutor:
    """An executor that returns long reports immediately."""

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


class GeneratedSubmissions:
    """Submissions that are generated when read."""

    def __init__(self, number: int) -> None:
        self.all: Sequence[Submission] = [
            Submission(f"student {student:06}", "double", f"{student:06}/double.py")
            for student in range(number)
        ]

    def read(self, source: str) -> bytes:
        return f"# {'pass' if int(source[:6]) % 2 else 'wrong'}\n".encode() * (SOURCE // 8)


def peak_bytes(number: int, mini: Pack, folder: Path) -> int:
    """Return the peak memory of grading submissions and writing the outputs."""
    handed_in = GeneratedSubmissions(number)
    gc.collect()
    tracemalloc.start()
    try:
        with Journal(folder) as journal:
            order = BatchOptions(("double",), 5)
            BatchRunner(mini, order, handed_in, journal, ImmediateExecutor()).run()
            results = BatchResults(mini, order.lessons, handed_in, journal, Times(None, ()))
            batch = Batch("mini", "", 5, order.lessons)
            summary = write_results(batch, results, folder, ["gradebook.csv"], FakeCodeReader())
        assert summary.results == number
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_size_of_submissions(mini: Pack, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(Pack, "solution", lambda self, lesson: None)
    peak_bytes(10, mini, tmp_path / "first")  # to import and cache
    few = peak_bytes(50, mini, tmp_path / "few")
    many = peak_bytes(550, mini, tmp_path / "many")
    assert (many - few) / 500 < KEPT
