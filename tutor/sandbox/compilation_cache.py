"""Compiled programs that a worker is given and keeps, instead of compiling them again.

JAX asks a persistent cache before it has XLA compile anything. Here that cache is in memory: what
the main process has sent along (`given`, from runs of the pack's own code, see
`tutor.pool.programs`, and sealed, see `tutor.sandbox.sealing`), and what this process has compiled
itself (`made`). A worker can read both and write neither anywhere.

JAX offers no public way to bring a cache of one's own, so this sets what `set_cache_dir` would
have set up; `tests/sandbox/test_programs.py` notices if that changes.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import jax
from jax._src import compilation_cache
from jax._src.compilation_cache_interface import CacheInterface

from tutor.sandbox.sealing import Sealed, name, sealed

MAX_PROGRAM = 1 << 20
"""Bytes of a program that is worth keeping for others; those of single operations have 20 KiB."""


class ProgramCache(CacheInterface):
    """See above. Keys are JAX's own: a hash of program, options, devices and versions."""

    _path = Path("memory")

    def __init__(self) -> None:
        self.given: Sealed = {}
        self.made: dict[str, bytes] = {}
        self._needed: Sealed = {}
        self._asleep = False

    @classmethod
    def install(cls) -> "ProgramCache":
        """Have JAX use one from now on."""
        cache = cls()
        jax.config.update("jax_compilation_cache_dir", str(cls._path))  # type: ignore[no-untyped-call]
        compilation_cache._cache = cache
        compilation_cache._cache_initialized = True
        return cache

    def get(self, key: str) -> bytes | None:
        if self._asleep:
            return None
        if key in self.made:
            return self.made[key]
        if (known := name(key)) in self.given:
            self._needed[known] = self.given[known]
            return sealed(key, self.given[known])
        return None

    def put(self, key: str, value: bytes) -> None:
        if not self._asleep:
            self.made[key] = value
            if len(value) <= MAX_PROGRAM:
                self._needed[name(key)] = sealed(key, value)

    def worth_keeping(self) -> Sealed:
        """Every program that was needed here since this was asked last."""
        needed, self._needed = self._needed, {}
        return needed

    def give(self, programs: Mapping[str, bytes]) -> None:
        self.given.update(programs)

    @contextmanager
    def asleep(self) -> Iterator[None]:
        """For timing what compiling costs: nothing is found and nothing kept."""
        self._asleep = True
        try:
            yield
        finally:
            self._asleep = False
