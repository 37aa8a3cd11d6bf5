"""Writing files atomically."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

ELSEWHERE = "set JAXTUTOR_HOME to a writable directory"


def write_atomically(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a file's contents atomically; see `replacing`. Raises: OSError: it could not be
    written; `path` is unchanged."""
    with replacing(path, durable=durable) as file:
        file.write(data)


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Yield a file that replaces `path` at the end of the block, unless it raises.

    The new file is complete on disk before it is renamed, so a full disk or power failure cannot
    leave a partial file. Symbolic links are followed, and permissions are kept.

    **Arguments:** `durable`: False skips `fsync`, the slowest part for many small files; only for
    data that can be recreated after a power failure.

    Raises:
        OSError: it could not be written; `path` is unchanged.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    # The whole name with prefix and suffix might be too long.
    prefix = f".{path.name[:40]}."
    descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        try:
            mode = path.stat().st_mode & 0o777
        except OSError:
            mode = 0o666 & ~_umask()
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:  # Ctrl-C too must not leave a partial file
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def free_name(path: Path) -> Path:
    """Return `path`, or the first of `path-2`, `path-3`, … that does not exist."""
    candidate, number = path, 1
    while os.path.lexists(candidate):  # broken links count as existing
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate
