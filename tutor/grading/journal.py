"""The journal of a batch: an append-only file with one line of JSON per result.

It is the source of truth; every other file is made from it. A line cut off by a crash is the last
one, and is removed before the next is written. Only one process writes at a time.
"""

import os
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Self

import msgspec
from msgspec import Struct

from tutor.grading.result import Override, Result

FORMAT = 1
NAME = "journal.jsonl"
SYNC_SECONDS = 0.5
"""The results that a power cut may lose. If the process is killed, nothing is lost: the kernel has
every line that was written."""

ResultId = tuple[str, str]
"""A submission's name, and a lesson's id."""


class Head(Struct, frozen=True, tag="batch", tag_field="line"):
    """The first line. If `--resume` added lessons there are more; the last one counts."""

    format: int
    pack: str
    pack_version: str
    seed: int
    repeat: int
    lessons: tuple[str, ...]
    started: str


class Graded(Struct, frozen=True, tag="result", tag_field="line"):
    """A result. `key` is a hash of everything that it depends on (`key_of`)."""

    key: str
    result: Result


class Overridden(Struct, frozen=True, tag="override", tag_field="line"):
    """A person's override; the last one for a submission and lesson counts."""

    submission: str
    lesson: str
    override: Override


_LINE = msgspec.json.Decoder(Head | Graded | Overridden)


class BadJournal(Exception):
    """The journal cannot be used; the message says why, and what to do."""


class _Entry(Struct, frozen=True):
    """A result's key and the position of its line in the file."""

    key: str
    offset: int
    length: int


class Journal:
    """A journal opened for writing; use as a context manager.

    **Arguments:** `folder`: the batch's directory; created if it does not exist.

    Raises:
        BadJournal: another process is writing to it, or a line is damaged.
        OSError: it cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.head: Head | None = None
        self.overrides: dict[ResultId, Override] = {}
        self._entries: dict[ResultId, _Entry] = {}
        self._synced = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = self.path.open("a+b")
        try:
            _lock(self._file, self.path)
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.sync()
        self._file.close()

    def begin(self, head: Head) -> None:
        """Write the head, unless it is unchanged."""
        if self.head != head:
            self._append(head)
            self.sync()
            self.head = head

    def add(self, key: str, result: Result) -> None:
        """Append a result."""
        self._entries[result.submission, result.lesson] = self._append(Graded(key, result), key)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def override(self, submission: str, lesson: str, override: Override) -> None:
        """Append an override."""
        self._append(Overridden(submission, lesson, override))
        self.sync()
        self.overrides[submission, lesson] = override

    def key(self, submission: str, lesson: str) -> str | None:
        """Return the key of the newest result, if there is one."""
        entry = self._entries.get((submission, lesson))
        return entry.key if entry is not None else None

    def result(self, submission: str, lesson: str) -> Result | None:
        """Return the newest result, as it was graded."""
        entry = self._entries.get((submission, lesson))
        if entry is None:
            return None
        self._file.seek(entry.offset)
        line = _LINE.decode(self._file.read(entry.length))
        assert isinstance(line, Graded)
        return line.result

    def __iter__(self) -> Iterator[ResultId]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def sync(self) -> None:
        """Flush the file to disk."""
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def _append(self, line: Head | Graded | Overridden, key: str = "") -> _Entry:
        data = msgspec.json.encode(line) + b"\n"
        offset = self._file.seek(0, os.SEEK_END)
        self._file.write(data)
        self._file.flush()
        return _Entry(key, offset, len(data))

    def _read(self) -> None:
        self._file.seek(0)
        offset = 0
        for number, data in enumerate(self._file, 1):
            if not data.endswith(b"\n"):
                self._file.truncate(offset)
                break
            try:
                line = _LINE.decode(data)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise BadJournal(
                    f"{self.path}:{number}:1: damaged: {error}; restore it from a backup, or grade "
                    "again with another --out"
                ) from None
            if isinstance(line, Head):
                self._accept(line)
            elif isinstance(line, Graded):
                result_id = (line.result.submission, line.result.lesson)
                self._entries[result_id] = _Entry(line.key, offset, len(data))
            else:
                self.overrides[line.submission, line.lesson] = line.override
            offset += len(data)

    def _accept(self, head: Head) -> None:
        if head.format > FORMAT:
            raise BadJournal(
                f"{self.path}: written by a newer jaxtutor. Run: pip install --upgrade jaxtutor"
            )
        self.head = head


def key_of(*parts: Any) -> str:
    """Return a short hash of everything that a result depends on."""
    return sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:32]


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock the file until it is closed or the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on this system, which cannot fork sandboxes for grading either
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadJournal(
            f"{path.parent}: another process is grading or overriding here; wait for it, or give "
            "another --out"
        ) from None
