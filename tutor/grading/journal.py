"""The journal of a batch: what has been graded, one line of JSON each, only ever appended to.

It is the truth; every other file is made from it. A line that was cut off when the machine stopped
is the last one, and is cut away before the next is written. Only one process writes at a time.
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
"""A power cut costs what was graded in so long. Being killed costs nothing: a line that is written
is the system's to keep."""

ResultId = tuple[str, str]
"""A submission's name, and a lesson's id."""


class Head(Struct, frozen=True, tag="batch", tag_field="line"):
    """The first line; the last one of them counts, where `--resume` has graded more lessons."""

    format: int
    pack: str
    pack_version: str
    seed: int
    repeat: int
    lessons: tuple[str, ...]
    started: str


class Graded(Struct, frozen=True, tag="result", tag_field="line"):
    """One result. `key` stands for all that it depends on (`key_of`)."""

    key: str
    result: Result


class Overridden(Struct, frozen=True, tag="override", tag_field="line"):
    """A person's word; the last one of a submission and lesson counts."""

    submission: str
    lesson: str
    override: Override


_LINE = msgspec.json.Decoder(Head | Graded | Overridden)


class BadJournal(Exception):
    """It cannot be used; the message says why, and what to do."""


class _Place(Struct, frozen=True):
    """Where a result stands in the file."""

    key: str
    offset: int
    length: int


class Journal:
    """Opened to be written to; use as a context manager.

    **Arguments:** `folder`: that of the batch; it is made if it is not there.

    Raises:
        BadJournal: somebody else is writing to it, or a line of it is damaged.
        OSError: it cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.head: Head | None = None
        self.overrides: dict[ResultId, Override] = {}
        self._places: dict[ResultId, _Place] = {}
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
        """Say what this batch is, unless that is known already."""
        if self.head != head:
            self._append(head)
            self.sync()
            self.head = head

    def add(self, key: str, result: Result) -> None:
        """Keep a result."""
        pair = (result.submission, result.lesson)
        self._places[pair] = self._append(Graded(key, result), key)
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def override(self, submission: str, lesson: str, override: Override) -> None:
        """Keep a person's word."""
        self._append(Overridden(submission, lesson, override))
        self.sync()
        self.overrides[submission, lesson] = override

    def key(self, submission: str, lesson: str) -> str | None:
        """The key of the newest result of a submission and lesson, if there is any."""
        place = self._places.get((submission, lesson))
        return place.key if place is not None else None

    def result(self, submission: str, lesson: str) -> Result | None:
        """The newest result, as it was graded."""
        place = self._places.get((submission, lesson))
        if place is None:
            return None
        self._file.seek(place.offset)
        line = _LINE.decode(self._file.read(place.length))
        assert isinstance(line, Graded)
        return line.result

    def __iter__(self) -> Iterator[ResultId]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def sync(self) -> None:
        """Have the disk hold what was written."""
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def _append(self, line: Head | Graded | Overridden, key: str = "") -> _Place:
        data = msgspec.json.encode(line) + b"\n"
        offset = self._file.seek(0, os.SEEK_END)
        self._file.write(data)
        self._file.flush()
        return _Place(key, offset, len(data))

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
                remedy = "restore it from a copy, or grade anew with another --out"
                raise BadJournal(f"{self.path}:{number}:1: damaged: {error}; {remedy}") from None
            if isinstance(line, Head):
                self._accept(line)
            elif isinstance(line, Graded):
                pair = (line.result.submission, line.result.lesson)
                self._places[pair] = _Place(line.key, offset, len(data))
            else:
                self.overrides[line.submission, line.lesson] = line.override
            offset += len(data)

    def _accept(self, head: Head) -> None:
        if head.format > FORMAT:
            what = f"{self.path}: written by a newer jaxtutor"
            raise BadJournal(f"{what}. Run: pip install --upgrade jaxtutor")
        self.head = head


def key_of(*parts: Any) -> str:
    """Short for all that a result depends on."""
    return sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:32]


def _lock(file: BinaryIO, path: Path) -> None:
    """Held until the file is closed, or the process is gone, however it goes."""
    try:
        import fcntl
    except ImportError:  # not on this system; there are no zygotes to grade with either
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        what = f"{path.parent}: somebody is grading into it, or overriding, right now"
        raise BadJournal(f"{what}; wait for that, or give another --out") from None
