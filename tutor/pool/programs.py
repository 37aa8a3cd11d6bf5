"""Compiled programs, kept on disk from run to run: what JAX need not compile again.

Only what the pack's own code made it compile is kept, collected before a submission came near the
process, and for each lesson apart, so that a pack can at most mislead itself. A worker is sent
them through its pipe, sealed (`tutor.sandbox.sealing`); it has no file to read and none to write.
To us they are bytes.
"""

import hashlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from tutor.engine.plan import Configuration
from tutor.files import discard, keep, kept
from tutor.lesson import Lesson
from tutor.sandbox.wire import WireError, decode, encode
from tutor.tree import Tree

MAX_BYTES = 256 << 20
"""Of all together on the disk; the least recently used go first."""

_DIGEST = 32


@cache
def _xla() -> str:
    return version("jaxlib")


class Programs:
    """The programs of all lessons.

    **Arguments:** `folder`: where they are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, lesson: Lesson, place: Configuration, code: str, seed: int) -> dict[str, Tree]:
        """What `code` needed compiled when it was run for this lesson and seed, on which the shapes
        depend: sealed, bytes as leaves; an empty dict if nothing is known."""
        path = self._path(lesson, place, code, seed)
        if (data := kept(path)) is None:
            return {}
        try:
            body = data[_DIGEST:]
            if hashlib.sha256(body).digest() != data[:_DIGEST]:
                raise WireError("damaged")
            tree = decode(body).tree
            if not isinstance(tree, dict):
                raise WireError("damaged")
        except WireError:
            discard(path)  # it can be compiled again
            return {}
        return tree

    def save(
        self, lesson: Lesson, place: Configuration, code: str, seed: int, programs: dict[str, Tree]
    ) -> None:
        """Keep what was collected. What cannot be kept costs time, nothing else."""
        with suppress(OSError, WireError):
            body = encode({}, {**programs})
            keep(self._path(lesson, place, code, seed), hashlib.sha256(body).digest() + body)
            self._prune()

    def _path(self, lesson: Lesson, place: Configuration, code: str, seed: int) -> Path:
        # The whole lesson: another pack's with the same code may ask it other things. And XLA's
        # edition: what another one has compiled is never asked for again.
        key = hashlib.sha256(repr((lesson, place, code, seed, _xla())).encode()).hexdigest()
        return self._folder / f"{lesson.id}-{key[:32]}.programs"

    def _prune(self) -> None:
        total = 0
        files = [(path.stat(), path) for path in self._folder.glob("*.programs")]
        for status, path in sorted(files, key=lambda file: file[0].st_mtime, reverse=True):
            total += status.st_size
            if total > MAX_BYTES:
                discard(path)
