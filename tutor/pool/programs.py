"""Compiled programs, cached on disk so that JAX does not compile them again.

Only programs that the pack's own code needed are cached, collected before a submission came near
the process, and for each lesson separately, so a pack can at most mislead itself. A worker gets
them through its pipe, sealed (`tutor.sandbox.sealing`); it has no file to read and none to write.
To this process they are bytes.
"""

import hashlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from msgspec import structs

from tutor.engine.plan import Configuration
from tutor.lesson import Lesson
from tutor.sandbox.wire import WireError, decode, encode
from tutor.storage.cache import DiskCache
from tutor.tree import Tree

MAX_BYTES = 256 << 20
"""Of all programs together."""


@cache
def _xla() -> str:
    return version("jaxlib")


class Programs:
    """The programs of all lessons, cached in `directory`."""

    def __init__(self, directory: Path) -> None:
        self._cache = DiskCache(directory, ".programs", max_bytes=MAX_BYTES)

    def load(
        self, lesson: Lesson, configuration: Configuration, code: str, seed: int
    ) -> dict[str, Tree]:
        """Return the programs that `code` needed when it was run for this lesson with this seed,
        on which the shapes depend: sealed, bytes as leaves. An empty dict if none are known."""
        name = name_of(lesson, configuration, code, seed)
        if (data := self._cache.load(name)) is None:
            return {}
        with suppress(WireError):
            if isinstance(tree := decode(data).tree, dict):
                return tree
        self._cache.discard(name)
        return {}

    def known(self, lesson: Lesson, configuration: Configuration, code: str, seed: int) -> bool:
        """Return whether the programs that `code` needs are cached."""
        return self._cache.path(name_of(lesson, configuration, code, seed)).exists()

    def save(
        self,
        lesson: Lesson,
        configuration: Configuration,
        code: str,
        seed: int,
        programs: dict[str, Tree],
    ) -> None:
        """Cache what was collected."""
        with suppress(WireError):
            name = name_of(lesson, configuration, code, seed)
            self._cache.save(name, encode({}, {**programs}))


def name_of(lesson: Lesson, configuration: Configuration, code: str, seed: int) -> str:
    """Return the name of a file with the programs of this code for this lesson."""
    # The whole lesson counts, since another pack's may ask the same code other things. So does
    # XLA's version: no other version asks for the programs that it compiled. Where the pack lies
    # does not.
    lesson = structs.replace(lesson, recorded="")
    key = hashlib.sha256(repr((lesson, configuration, code, seed, _xla())).encode()).hexdigest()
    return f"{lesson.id}-{key[:32]}"
