"""What is remembered of packs from one start to the next, in the cache folder.

Only what can be read again from the pack itself is kept here. So what is missing, damaged, of
another version or not to be written costs time and nothing else, and of two that write at once
the later wins.
"""

import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tutor import __version__, paths

LAYOUT = 1
"""Counts up whenever what is kept changes its form."""

MAX_BYTES = 32 << 20
"""Of one file: about 200,000 lessons."""

MAX_FILES = 64
"""In the folder; the oldest go."""

_CHECKSUM = 4

T = TypeVar("T")


def recall(root: Path, what: str, form: type[T]) -> T | None:
    """What was remembered of the pack at `root` under the name `what`; None if nothing was."""
    path = _path(root, what)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    body = data[_CHECKSUM:]
    if len(data) > MAX_BYTES or data[:_CHECKSUM] != _checksum(body):
        return None
    try:
        head, kept = msgspec.msgpack.decode(body, type=tuple[list[Any], form])  # type: ignore[valid-type]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return kept if head == _head(root) else None


def remember(root: Path, what: str, kept: object) -> None:
    """Keep something for the next start, if that can be done."""
    from tutor.files import keep

    body = msgspec.msgpack.encode((_head(root), kept))
    if len(body) >= MAX_BYTES:
        return
    path = _path(root, what)
    keep(path, _checksum(body) + body)
    with suppress(OSError):
        _prune(path.parent)


def _path(root: Path, what: str) -> Path:
    # Two packs whose numbers are the same by chance only take turns: the head tells them apart.
    number = zlib.crc32(os.fsencode(os.path.realpath(root)))
    return paths.cache() / "packs" / f"{number:08x}.{what}"


def _head(root: Path) -> list[Any]:
    return [LAYOUT, __version__, os.fsencode(os.path.realpath(root))]


def _checksum(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(_CHECKSUM, "big")


def _prune(folder: Path) -> None:
    found = []
    for path in folder.iterdir():
        try:
            found.append((path.stat().st_mtime_ns, path))
        except OSError:
            pass  # another jaxtutor has pruned it
    for _, path in sorted(found)[: max(0, len(found) - MAX_FILES)]:
        path.unlink(missing_ok=True)
