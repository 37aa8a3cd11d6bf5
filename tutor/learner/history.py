"""What a learner did in each lesson, in a journal: every attempt with its code, and hints taken.

A journal is a file for each lesson, with a line of JSON for each event. Lines are only appended,
and are on disk before anything else is told of them; so the database of progress can be made anew
from them. A line that was cut off by a crash is passed over, and so is one of a newer jaxtutor.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from tutor.storage.files import write_atomically

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MOST_ATTEMPTS = 200
"""Attempts of a lesson that are kept, beside the first pass."""

MOST_BYTES = 2_000_000
"""Size of a journal from which the oldest attempts are dropped until it is half of this."""

KEPT = "kept"
"""The verdict of code that was not checked, but replaced by an earlier attempt."""


class Attempt(Struct, frozen=True, tag="attempt", kw_only=True):
    """Code that was checked: when (seconds since the epoch), and what came of it."""

    at: float
    verdict: str
    passed: int = 0
    checks: int = 0
    seed: int = 0
    seconds: float = 0.0
    code: str


class HintsTaken(Struct, frozen=True, tag="hints", kw_only=True):
    """So many hints have been taken."""

    at: float
    count: int


class PassedEarlier(Struct, frozen=True, tag="passed", kw_only=True):
    """The lesson was passed before there was a journal."""

    at: float


Event = Attempt | HintsTaken | PassedEarlier

_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class History:
    """The journals of all packs.

    **Arguments:** `folder`: where they are, by pack and lesson.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, pack: str, lesson: str) -> Path:
        return self.folder / pack / f"{lesson}.jsonl"

    def attempts(self, pack: str, lesson: str) -> list[Attempt]:
        """Return all attempts that are kept, the oldest first; none if they cannot be read."""
        return [event for event in self.events(pack, lesson) if isinstance(event, Attempt)]

    def events(self, pack: str, lesson: str) -> list[Event]:
        try:
            data = self.path(pack, lesson).read_bytes()
        except OSError:
            return []
        return [event for line in data.splitlines() if (event := _decoded(line)) is not None]

    def lessons(self) -> list[tuple[str, str]]:
        """Return the pack and the lesson of each journal."""
        return sorted((path.parent.name, path.stem) for path in self.folder.glob("*/*.jsonl"))

    def record(self, pack: str, lesson: str, event: Event) -> None:
        """Append an event. An attempt with the code and the verdict of the one before is none.

        Raises:
            OSError: it could not be written; the journal is as it was.
        """
        path = self.path(pack, lesson)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent / "lock"):
            if isinstance(event, Attempt):
                before = self.attempts(pack, lesson)
                if before and (before[-1].code, before[-1].verdict) == (event.code, event.verdict):
                    return
            _append(path, msgspec.json.encode(event))
            if path.stat().st_size > MOST_BYTES or (
                isinstance(event, Attempt) and len(before) >= MOST_ATTEMPTS
            ):
                _shorten(path)


def _append(path: Path, line: bytes) -> None:
    with path.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        torn = size > 0
        if size:
            file.seek(-1, os.SEEK_END)
            torn = file.read(1) != b"\n"
        try:
            # In one write: a reader sees the whole line, or a part that it passes over.
            file.write((b"\n" if torn else b"") + line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        except OSError:  # a full disk: a part of the line may be there
            os.ftruncate(file.fileno(), size)
            raise


def _shorten(path: Path) -> None:
    """Drop the oldest attempts. The first pass stays, and so does what is no attempt, or cannot be
    read here."""
    lines = path.read_bytes().splitlines()
    events = [_decoded(line) for line in lines]
    attempts = [number for number, event in enumerate(events) if isinstance(event, Attempt)]
    first = next((n for n in attempts if getattr(events[n], "verdict", "") == "pass"), -1)
    dropped: set[int] = set()
    size = sum(map(len, lines))
    for position, number in enumerate(attempts[:-1]):
        enough = size <= MOST_BYTES // 2 and len(attempts) - position <= MOST_ATTEMPTS
        if enough:
            break
        if number != first:
            dropped.add(number)
            size -= len(lines[number])
    left = [line for number, line in enumerate(lines) if number not in dropped]
    write_atomically(path, b"".join(line + b"\n" for line in left))


def _decoded(line: bytes) -> Event | None:
    try:
        return _DECODER.decode(line)
    except msgspec.MsgspecError:
        return None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait for other instances of jaxtutor, and keep them waiting."""
    with path.open("ab") as file:
        if fcntl is not None:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield
