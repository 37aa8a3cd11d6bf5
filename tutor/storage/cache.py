"""Files that can be computed again, kept on disk from one run to the next.

An entry that is missing or damaged, or that cannot be written, costs time and nothing else. Of two
processes that write the same entry at once, the later wins.
"""

import os
import zlib
from contextlib import suppress
from pathlib import Path

notices: list[str] = []
"""Notice for the user about caches that cannot be written: at most one sentence. The code that
shows it removes it."""

_noticed = False

_CHECKSUM = 4


class DiskCache:
    """Entries of one kind in one directory; the least recently used are deleted first.

    **Arguments:** `suffix`: ends the name of each entry's file; `max_files`, `max_bytes`: limits of
    all entries together; `max_entry`: bytes of one entry.
    """

    def __init__(
        self,
        directory: Path,
        suffix: str,
        *,
        max_files: int | None = None,
        max_bytes: int | None = None,
        max_entry: int = 1 << 30,
    ) -> None:
        self._directory = directory
        self._suffix = suffix
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._max_entry = max_entry

    def path(self, name: str) -> Path:
        """Return the file of an entry."""
        return self._directory / f"{name}{self._suffix}"

    def load(self, name: str) -> bytes | None:
        """Return an entry and mark it as used; None if there is none that is whole."""
        path = self.path(name)
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size  # `read(n)` allocates n bytes
                data = file.read(min(size, self._max_entry + _CHECKSUM + 1))
        except OSError:
            return None
        body = data[_CHECKSUM:]
        if len(body) > self._max_entry or data[:_CHECKSUM] != _checksum(body):
            self.discard(name)
            return None
        with suppress(OSError):  # another user's file, or a read-only disk
            os.utime(path)
        return body

    def save(self, name: str, body: bytes) -> None:
        """Write an entry. Where that is impossible, `notices` says so."""
        from tutor.storage.files import write_atomically

        if len(body) > self._max_entry:
            return
        try:
            write_atomically(self.path(name), _checksum(body) + body)
        except OSError as error:
            self._notice(error)
        with suppress(OSError):
            self._prune()

    def discard(self, name: str) -> None:
        """Delete an entry, if possible."""
        with suppress(OSError):
            self.path(name).unlink()

    def _prune(self) -> None:
        files = []
        for path in self._directory.glob(f"*{self._suffix}"):
            with suppress(OSError):  # another process has pruned it
                files.append((path.stat(), path))
        total = 0
        files.sort(key=lambda file: file[0].st_mtime_ns, reverse=True)
        for number, (status, path) in enumerate(files, start=1):
            total += status.st_size
            many = self._max_files is not None and number > self._max_files
            if many or (self._max_bytes is not None and total > self._max_bytes):
                with suppress(OSError):
                    path.unlink()

    def _notice(self, error: OSError) -> None:
        global _noticed
        if _noticed:
            return
        _noticed = True
        from tutor.storage.files import ELSEWHERE

        why = "not a directory" if isinstance(error, FileExistsError) else error.strerror
        notices.append(
            f"cannot write to the cache {self._directory} ({why}), so some steps take longer; "
            f"make room there, or {ELSEWHERE}"
        )


def _checksum(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(_CHECKSUM, "big")
