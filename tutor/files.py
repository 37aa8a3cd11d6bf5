"""Writing files so that nothing is ever half written or lost; and keeping what can be made again,
where a folder that cannot be read or written costs time and nothing else."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

ELSEWHERE = "set JAXTUTOR_HOME to a folder that you can write to"

unkept: list[str] = []
"""What is to be told the user of what could not be kept: nothing, or one sentence. Whoever has told
it takes it out."""

_complained = False


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


def keep(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write what can be made again. Where that cannot be done, `unkept` says so."""
    try:
        write_atomically(path, data, durable=durable)
    except OSError as error:
        global _complained
        if not _complained:
            _complained = True
            why = "not a folder" if isinstance(error, FileExistsError) else error.strerror
            unkept.append(
                f"nothing can be kept in {path.parent} ({why}), so some things take "
                f"longer; make room there, or {ELSEWHERE}"
            )


def kept(path: Path, at_most: int | None = None) -> bytes | None:
    """Return what `keep` has written, and mark it as used; None where nothing can be read.

    **Arguments:** `at_most`: bytes to read; one more tells that there are more.
    """
    try:
        with path.open("rb") as file:
            data = file.read() if at_most is None else file.read(at_most + 1)
    except OSError:
        return None
    with suppress(OSError):  # somebody else's, or on a disk that takes no writing
        os.utime(path)
    return data


def discard(path: Path) -> None:
    """Remove what can be made again, if that can be done."""
    with suppress(OSError):
        path.unlink()


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
