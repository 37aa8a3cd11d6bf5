"""The learner's progress in SQLite: attempts, hints taken, and cursor positions.

Losing it must neither lose a lesson's code nor stop the learner: a damaged database is set aside
and made anew from the journals of `tutor.learner.history`, in which everything is written first;
one that cannot be opened is replaced by one in memory for this run; `notices` reports both.

A full integrity check takes time (50 ms for 200,000 attempts), so it runs only after an unclean
shutdown. Otherwise damage is detected on access.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Self

from tutor.learner.history import KEPT, Attempt, Event, HintsTaken, History, PassedEarlier
from tutor.report import Report
from tutor.storage import paths
from tutor.storage.files import ELSEWHERE, free_name

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY, pack TEXT NOT NULL, lesson TEXT NOT NULL, at REAL NOT NULL,
    verdict TEXT NOT NULL, passed INTEGER NOT NULL, checks INTEGER NOT NULL,
    seed INTEGER NOT NULL, seconds REAL NOT NULL
);
CREATE INDEX attempt_lesson ON attempt (pack, lesson);
CREATE TABLE lesson (
    pack TEXT NOT NULL, id TEXT NOT NULL, opened_at REAL, passed_at REAL,
    hints INTEGER NOT NULL DEFAULT 0, cursor_row INTEGER NOT NULL DEFAULT 0,
    cursor_column INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (pack, id)
);
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_NOT_KEPT = "progress is not saved in this run"

LessonStatus = Literal["new", "started", "passed", "known"]
"""A lesson is known if it is not passed, but its track's review is: `tutor.learner.placement`. That
is computed when it is shown, and never stored."""


class Progress:
    """Progress in all packs. Use as a context manager, or `close` it.

    **Arguments:** `path`: the database; by default the user's.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or paths.data() / "progress.db"
        self.notices: list[str] = []
        self.history = History(self.path.parent / "history")
        self._lasting = True
        self._db = self._open()
        self._begin_history()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    # --- reading -----------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """Whether no lesson of any pack was opened or checked."""
        return not self._read("SELECT 1 FROM lesson LIMIT 1")

    def statuses(self, pack: str) -> dict[str, LessonStatus]:
        """Return statuses by lesson id; missing lessons are new."""
        rows = self._read("SELECT id, passed_at FROM lesson WHERE pack = ?", pack)
        return {str(lesson): "passed" if passed_at else "started" for lesson, passed_at in rows}

    def packs(self) -> list[str]:
        """Return the packs of which a lesson was opened."""
        return [str(pack) for (pack,) in self._read("SELECT DISTINCT pack FROM lesson ORDER BY 1")]

    def passed(self, pack: str, lesson: str) -> bool:
        return bool(self._of_lesson("passed_at", pack, lesson)[0])

    def hints(self, pack: str, lesson: str) -> int:
        """Return the number of hints taken."""
        return int(self._of_lesson("hints", pack, lesson)[0])

    def attempts(self, pack: str, lesson: str) -> int:
        rows = self._read(
            "SELECT count(*) FROM attempt WHERE pack = ? AND lesson = ?", pack, lesson
        )
        return int(rows[0][0]) if rows else 0

    def last_attempt(self, pack: str, lesson: str) -> tuple[int, int] | None:
        """Return how many checks passed in the last attempt, and how many there were."""
        rows = self._read(
            "SELECT passed, checks FROM attempt WHERE pack = ? AND lesson = ? "
            "ORDER BY id DESC LIMIT 1",
            pack,
            lesson,
        )
        return (int(rows[0][0]), int(rows[0][1])) if rows else None

    def last_lesson(self, pack: str) -> str | None:
        """Return the lesson opened last."""
        rows = self._read("SELECT value FROM setting WHERE name = ?", f"last {pack}")
        return str(rows[0][0]) if rows else None

    def cursor(self, pack: str, lesson: str) -> tuple[int, int]:
        """Return the last row and column of the editor's cursor."""
        row, column = self._of_lesson("cursor_row, cursor_column", pack, lesson)
        return int(row), int(column)

    def _of_lesson(self, columns: str, pack: str, lesson: str) -> tuple[Any, ...]:
        """Return columns of a lesson's row, zeros if there is none."""
        rows = self._read(f"SELECT {columns} FROM lesson WHERE pack = ? AND id = ?", pack, lesson)  # noqa: S608 - our own names
        return rows[0] if rows else (0,) * len(columns.split(","))

    # --- writing -----------------------------------------------------------------------------

    def opened(self, pack: str, lesson: str) -> None:
        """Record that a lesson was opened."""
        with self._write() as db:
            _touch(db, pack, lesson)
            db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (f"last {pack}", lesson))

    def left(self, pack: str, lesson: str, cursor: tuple[int, int]) -> None:
        """Save the editor's cursor position."""
        with self._write() as db:
            _touch(db, pack, lesson)
            db.execute(
                "UPDATE lesson SET cursor_row = ?, cursor_column = ? WHERE pack = ? AND id = ?",
                (*cursor, pack, lesson),
            )

    def record(self, pack: str, report: Report, code: str = "") -> None:
        """Save an attempt; a pass is permanent. Internal errors do not count as attempts.

        **Arguments:** `code`: what was checked, for the history.
        """
        if report.verdict == "internal":
            return
        attempt = Attempt(
            at=time.time(),
            verdict=report.verdict,
            passed=sum(check.status == "pass" for check in report.checks),
            checks=len(report.checks),
            seed=report.seed,
            seconds=report.timings.total,
            code=code,
        )
        self._journal(pack, report.lesson, attempt)
        with self._write() as db:
            _add_attempt(db, pack, report.lesson, attempt)

    def keep(self, pack: str, lesson: str, attempt: Attempt) -> None:
        """Add code to the history that counts as no attempt."""
        self._journal(pack, lesson, attempt)

    def take_hint(self, pack: str, lesson: str, available: int) -> int:
        """Take the next hint, if any, and return the number taken so far."""
        before = self.hints(pack, lesson)
        taken = min(before + 1, available)
        if taken > before:
            self._journal(pack, lesson, HintsTaken(at=time.time(), count=taken))
        with self._write() as db:
            _set_hints(db, pack, lesson, taken)
        return taken

    # --- the journals ------------------------------------------------------------------------

    def _journal(self, pack: str, lesson: str, event: Event) -> None:
        try:
            self.history.record(pack, lesson, event)
        except OSError as error:
            if self._lasting:  # else it is told already
                self._notify(f"your history was not saved: {error.strerror}; {ELSEWHERE}")

    def _begin_history(self) -> None:
        """Write into the journals what was passed before there were any."""
        if self.history.folder.exists():
            return
        for pack, lesson, at in self._read(
            "SELECT pack, id, passed_at FROM lesson WHERE passed_at IS NOT NULL"
        ):
            self._journal(pack, lesson, PassedEarlier(at=at))

    def _rebuild(self, db: sqlite3.Connection) -> int:
        """Make the database anew from the journals, and return the number of lessons passed."""
        db.execute("BEGIN IMMEDIATE")
        for pack, lesson in self.history.lessons():
            for event in self.history.events(pack, lesson):
                match event:
                    case Attempt() if event.verdict != KEPT:
                        _add_attempt(db, pack, lesson, event)
                    case HintsTaken(count=count):
                        _set_hints(db, pack, lesson, count)
                    case PassedEarlier(at=at):
                        _touch(db, pack, lesson)
                        _set_passed(db, pack, lesson, at)
        db.execute("COMMIT")
        found = db.execute("SELECT count(*) FROM lesson WHERE passed_at IS NOT NULL").fetchone()
        return int(found[0])

    # --- the database ------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self._connect(str(self.path))
        except sqlite3.OperationalError as error:
            self._notify(f"{_NOT_KEPT}: {self.path}: {error}; to save it, {ELSEWHERE}")
        except sqlite3.DatabaseError as error:
            return self._replace_damaged(error)
        except OSError as error:
            self._notify(f"{_NOT_KEPT}: {self.path}: {error.strerror}; to save it, {ELSEWHERE}")
        except _Newer:
            self._notify(f"{_NOT_KEPT}: {self.path} was written by a newer jaxtutor")
        self._lasting = False
        return self._connect(":memory:")

    def _connect(self, name: str) -> sqlite3.Connection:
        # SQLite removes this file when the last connection is closed.
        clean = not Path(f"{name}-wal").exists()
        db = sqlite3.connect(name, timeout=60, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            if not clean and db.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("quick_check found damage")
            if _version(db) < SCHEMA_VERSION:
                self._make_tables(db)
            if _version(db) > SCHEMA_VERSION:
                raise _Newer
        except BaseException:
            db.close()
            raise
        return db

    def _make_tables(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        if _version(db) == 0:  # unless another process has created them meanwhile
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute("COMMIT")

    def _replace_damaged(self, error: sqlite3.Error) -> sqlite3.Connection:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        aside = free_name(self.path.with_name(f"progress-damaged-{stamp}.db"))
        try:
            self.path.replace(aside)
            for suffix in ("-wal", "-shm"):
                side = self.path.with_name(self.path.name + suffix)
                if side.exists():
                    side.replace(aside.with_name(aside.name + suffix))
            db = self._connect(str(self.path))
            passed = self._rebuild(db)
        except (OSError, sqlite3.Error):
            self._notify(f"{_NOT_KEPT}: {self.path} is damaged ({error})")
            return self._connect(":memory:")
        lessons = f"{passed} lesson{'' if passed == 1 else 's'} passed"
        self._notify(
            f"the progress database was damaged ({error}). It was renamed to {aside}, and a new "
            f"one was made from your history: {lessons}; your code is not affected"
        )
        return db

    def _read(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(query, parameters).fetchall()
        except sqlite3.Error as error:
            if not self._set_aside(error):
                self._notify(f"progress cannot be read: {error}")
            return []

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction. A full disk or a locked database loses progress, not code."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._set_aside(error):
                return
            self._notify(f"progress was not saved: {error}")
            if self._db.in_transaction:
                try:
                    self._db.execute("ROLLBACK")
                except sqlite3.Error:
                    pass  # SQLite has rolled it back already, as it does when the disk is full

    def _set_aside(self, error: sqlite3.Error) -> bool:
        """Create a new database if this error means that the current one is damaged."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
            return False
        self._db.close()
        self._db = self._replace_damaged(error)
        return True

    def _notify(self, notice: str) -> None:
        if notice not in self.notices:
            self.notices.append(notice)


class _Newer(Exception):
    pass


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _add_attempt(db: sqlite3.Connection, pack: str, lesson: str, attempt: Attempt) -> None:
    _touch(db, pack, lesson)
    db.execute(
        "INSERT INTO attempt (pack, lesson, at, verdict, passed, checks, seed, seconds) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (pack, lesson, attempt.at, attempt.verdict, attempt.passed, attempt.checks, attempt.seed,
         attempt.seconds),
    )  # fmt: skip
    if attempt.verdict == "pass":
        _set_passed(db, pack, lesson, attempt.at)


def _set_passed(db: sqlite3.Connection, pack: str, lesson: str, at: float) -> None:
    db.execute(
        "UPDATE lesson SET passed_at = coalesce(passed_at, ?) WHERE pack = ? AND id = ?",
        (at, pack, lesson),
    )


def _set_hints(db: sqlite3.Connection, pack: str, lesson: str, count: int) -> None:
    _touch(db, pack, lesson)
    db.execute(
        "UPDATE lesson SET hints = max(hints, ?) WHERE pack = ? AND id = ?", (count, pack, lesson)
    )


def _touch(db: sqlite3.Connection, pack: str, lesson: str) -> None:
    db.execute(
        "INSERT INTO lesson (pack, id, opened_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (pack, lesson, time.time()),
    )
