"""Fixtures for outputs: real results, and hostile ones."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.grading.outputs.made import HOSTILE, made
from tutor.grading import outputs
from tutor.grading.result import Batch, Late, Override, Result
from tutor.manifest import Pack
from tutor.pool.forks import Forks


class FakeCodeReader:
    """A `CodeReader` of a dictionary from `(submission, lesson)` to code."""

    def __init__(self, codes: dict[tuple[str, str], str] | None = None, starter: str = "") -> None:
        self.codes = codes or {}
        self.given = starter

    def code(self, result: Result) -> str | None:
        return self.codes.get((result.submission, result.lesson))

    def starter(self, lesson: str) -> str:
        return self.given


BATCH = Batch(
    pack="mini",
    pack_version="1.2",
    seed=2**63 + 1,
    lessons=("double", "tall"),
    problems=("notes.txt: no such lesson; rename it to LESSON.py",),
    started="2026-03-04T05:06:07+02:00",
)


@pytest.fixture
def write(tmp_path: Path):
    """Return a function that writes results and returns the directory."""

    def written(
        results: Iterable[Result],
        formats: Sequence[str] = tuple(outputs.FORMATS),
        batch: Batch = BATCH,
        reader: outputs.CodeReader | None = None,
    ) -> Path:
        folder = tmp_path / "out"
        outputs.write(batch, results, folder, formats, reader or FakeCodeReader())
        return folder

    return written


@pytest.fixture(scope="session")
def real(forks: Forks, mini: Pack) -> list[Result]:
    """Real results: right, wrong, an exception, a syntax error; with lateness and overrides."""
    double, tall = mini.lesson("double"), mini.lesson("tall")
    return [
        made(forks, "Ada Lovelace", double, "def double(x):\n    return 2 * x\n"),
        made(forks, "Ada Lovelace", tall, "def tall(x):\n    return x.T\n"),
        made(forks, "Bob", double, "def double(x):\n    return 3 * x\n"),
        made(
            forks, "Bob", tall, "def tall(x):\n    raise ValueError('<script>alert(1)</script>')\n",
            late=Late(2.5, 0.3, "2.5 days late"),
        ),
        made(forks, "Çağla Ünal", double, "def double(x:\n"),
        made(
            forks, "Çağla Ünal", tall, "def tall(x):\n    return x\n",
            override=Override(1.0, "the idea is right", "Prof. X", "2026-03-05T00:00:00Z"),
        ),
        Result("Dan", "double", "ungraded", None, 2.0, fault="the file is empty"),
        Result("Dan", "tall", "internal", None, 1.0, fault="no sandbox could be started"),
    ]  # fmt: skip


@pytest.fixture(scope="session")
def hostile() -> list[Result]:
    return list(HOSTILE)
