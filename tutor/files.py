"""Writing files so that nothing is ever half written or lost."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

ELSEWHERE = "set JAXTUTOR_HOME to a folder that you can write to"


def write_atomically(path: Path, data: bytes, *, durable: bool = True) -> None:
    """`replacing` for what is at hand as a whole.

    Raises:
        OSError: it could not be written; `path` is untouched.
    """
    with replacing(path, durable=durable) as file:
        file.write(data)


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Replace `path` by what is written to the file given, or leave it as it was: an exception
    inside the block leaves nothing behind.

    The new file is complete on disk before it takes the name, so neither a full disk nor a power
    cut leaves a part of it. A symbolic link keeps pointing where it did, and permissions stay.

    **Arguments:** `durable`: False does not wait for the disk, which takes longer than all else
    where files are small and many; only for what can be made again after a power cut.

    Raises:
        OSError: it could not be written; `path` is untouched.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not the whole name: with what is added it might be too long.
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
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def free_name(path: Path) -> Path:
    """`path`, or the first of `path-2`, `path-3`, … that does not exist yet."""
    candidate, number = path, 1
    while os.path.lexists(candidate):  # a link that leads nowhere is somebody's, too
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate
