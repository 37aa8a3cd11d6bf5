"""JAX's persistent compilation cache, in the memory of a worker.

It holds programs that the main process sent (`given`: compiled for the pack's own code, see
`tutor.pool.programs`, and encrypted, see `tutor.sandbox.sealing`) and those that this process has
compiled (`made`). A worker cannot write either to disk.

See `tutor.sandbox.jax_internals` for how JAX comes to use it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tutor.sandbox import jax_internals
from tutor.sandbox.sealing import Sealed, name, sealed

MAX_PROGRAM = 1 << 20
"""Largest program to keep for other workers; that of a single operation has 20 KiB."""


class ProgramCache(jax_internals.cache_class()):  # type: ignore[misc]
    """The cache. Keys are JAX's: a hash of program, options, devices and versions."""

    _path = Path("memory")

    def __init__(self) -> None:
        self.given: Sealed = {}
        self.made: dict[str, bytes] = {}
        self._needed: Sealed = {}
        self._disabled = False

    @classmethod
    def install(cls) -> "ProgramCache":
        """Make JAX use a new cache from now on."""
        cache = cls()
        jax_internals.use_cache(cache, str(cls._path))
        return cache

    def get(self, key: str) -> bytes | None:
        if self._disabled:
            return None
        if key in self.made:
            return self.made[key]
        if (sealed_name := name(key)) in self.given:
            self._needed[sealed_name] = self.given[sealed_name]
            return sealed(key, self.given[sealed_name])
        return None

    def put(self, key: str, value: bytes) -> None:
        if not self._disabled:
            self.made[key] = value
            if len(value) <= MAX_PROGRAM:
                self._needed[name(key)] = sealed(key, value)

    def take_needed(self) -> Sealed:
        """Return the programs that were needed since the last call."""
        needed, self._needed = self._needed, {}
        return needed

    def give(self, programs: Mapping[str, bytes]) -> None:
        self.given.update(programs)

    @contextmanager
    def disabled(self) -> Iterator[None]:
        """Find and keep nothing, so that compiling can be timed."""
        self._disabled = True
        try:
            yield
        finally:
            self._disabled = False
