"""Progress survives crashes; a damaged database is reported and does not stop the app."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tutor.learner.progress import Progress
from tutor.report import CheckResult, Report

PASS = Report("double", "pass", (CheckResult("value", "value", "pass"),))
FAIL = Report("double", "fail", (CheckResult("value", "value", "fail"),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "progress.db"


def filled(path: Path, attempts: int = 2000) -> None:
    """Write a database of several pages, and close it properly."""
    with Progress(path) as progress:
        progress.record("mini", PASS)
    row = ("mini", "double", 1.0, "fail", 0, 1, 0, 1.0)
    db = sqlite3.connect(path)
    with db:
        db.executemany(
            "INSERT INTO attempt (pack, lesson, at, verdict, passed, checks, seed, seconds) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [row] * attempts,
        )
    db.close()
    assert not path.with_name("progress.db-wal").exists()


def root_page(path: Path, table: str) -> tuple[int, int]:
    """Return the offset and size of the first page of a table or index."""
    db = sqlite3.connect(path)
    size = db.execute("PRAGMA page_size").fetchone()[0]
    (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    db.close()
    return (page - 1) * size, size


def damage(path: Path, page: tuple[int, int]) -> None:
    """Overwrite a page, as a bad disk does."""
    with path.open("r+b") as file:
        file.seek(page[0])
        file.write(b"\xa5" * page[1])


def end_suddenly(path: Path) -> None:
    """Begin a lesson, then crash, as in a power cut."""
    program = (
        "import os, sys; from pathlib import Path; from tutor.learner.progress import Progress\n"
        "progress = Progress(Path(sys.argv[1])); progress.opened('mini', 'tall'); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert path.with_name("progress.db-wal").exists()


def kept(path: Path) -> list[Path]:
    return sorted(path.parent.glob("progress-damaged-*.db"))


def test_recorded_progress_is_there_next_time(path: Path):
    with Progress(path) as progress:
        progress.record("mini", FAIL)
        assert not progress.passed("mini", "double")
        progress.record("mini", PASS)
        progress.record("mini", FAIL)
        progress.opened("mini", "tall")
    with Progress(path) as progress:
        assert progress.passed("mini", "double")
        assert not progress.passed("mini", "tall")
        assert not progress.passed("mini", "unknown")
        assert progress.statuses("mini") == {"double": "passed", "tall": "started"}
        assert progress.attempts("mini", "double") == 3
        assert progress.last_lesson("mini") == "tall"
        assert progress.notices == []


def test_damage_found_while_reading_is_set_aside(path: Path):
    filled(path)
    damage(path, root_page(path, "lesson"))
    with Progress(path) as progress:
        assert progress.statuses("mini") == {}
        (notice,) = progress.notices
        assert "was damaged" in notice
        assert str(kept(path)[0]) in notice
        progress.record("mini", PASS)
        assert progress.passed("mini", "double")
    assert len(kept(path)) == 1
    with Progress(path) as progress:
        assert progress.statuses("mini") == {"double": "passed"}
        assert progress.notices == []


def test_damage_found_while_writing_is_set_aside(path: Path):
    filled(path)
    damage(path, root_page(path, "attempt"))
    with Progress(path) as progress:
        progress.record("mini", FAIL)
        (notice,) = progress.notices
        assert "was damaged" in notice
        progress.record("mini", PASS)
        assert progress.statuses("mini") == {"double": "passed"}
    assert len(kept(path)) == 1


def test_damage_is_searched_for_after_a_crash(path: Path):
    filled(path)
    page = root_page(path, "attempt_lesson")
    end_suddenly(path)
    damage(path, page)
    with Progress(path) as progress:
        assert "was damaged" in progress.notices[0]
    assert len(kept(path)) == 1


def test_a_crash_loses_nothing(path: Path):
    end_suddenly(path)
    with Progress(path) as progress:
        assert progress.last_lesson("mini") == "tall"
        assert progress.notices == []


def test_two_connections_share_the_database(path: Path):
    with Progress(path) as one, Progress(path) as other:
        one.opened("mini", "double")
        other.record("mini", PASS)
        assert one.passed("mini", "double")
        assert other.last_lesson("mini") == "double"
        assert one.notices == other.notices == []


def test_a_database_of_a_newer_jaxtutor_is_not_changed(path: Path):
    filled(path, 1)
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    with Progress(path) as progress:
        progress.record("mini", PASS)
        assert progress.passed("mini", "double")
        assert "newer jaxtutor" in progress.notices[0]
    assert path.read_bytes() == before
