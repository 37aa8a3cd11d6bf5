"""PyTorch's answers, recorded with a pack by its author.

A learner gets the same inputs every time (`SEED`), so their first check need not wait for PyTorch,
nor have it installed. The key of a recording is a hash of the lesson's PyTorch, its checks and its
inputs, but not of versions: `jaxtutor pack test` computes every answer anew and compares.

A recording comes from a pack, so it is untrusted: it is bounded, and holds nothing but data.
"""

import zlib
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from tutor.pack.folder import MAX_BYTES
from tutor.sandbox.wire import WireError, decode, encode
from tutor.storage.files import write_atomically
from tutor.tree import Tree

SEED = 0
"""The seed of the inputs that learners get."""

MAX_UNPACKED = 32 << 20
"""Bytes of a recording once it is decompressed."""


class _About(Struct, frozen=True):
    """`key`: see `References`; `versions`: of the libraries that computed the answers."""

    key: str
    versions: dict[str, str]


class RecordingTooLarge(Exception):
    """The answers do not fit into a file of a pack; the message says how large they are."""


def load(path: str, key: str) -> dict[str, Tree] | None:
    """Return the recorded answers by case; None unless the file has exactly this key."""
    if not path:
        return None
    try:
        with Path(path).open("rb") as file:
            packed = file.read(MAX_BYTES + 1)
        if len(packed) > MAX_BYTES:
            return None
        unpacker = zlib.decompressobj()
        frame = decode(unpacker.decompress(packed, MAX_UNPACKED))
        about = msgspec.json.decode(frame.message, type=_About)
    except (OSError, zlib.error, WireError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    if not unpacker.eof or about.key != key or not isinstance(frame.tree, dict):
        return None
    return {str(case): tree for case, tree in frame.tree.items()}


def save(path: str, key: str, answers: Mapping[str, Tree], versions: dict[str, str]) -> None:
    """Write the answers. The same answers give the same bytes.

    Raises:
        RecordingTooLarge: they do not fit into a file of a pack.
        OSError: the file could not be written.
    """
    try:
        data = zlib.compress(encode(_About(key, versions), dict(answers)), 9)
    except WireError as error:
        raise RecordingTooLarge(str(error)) from None
    if len(data) > MAX_BYTES:
        raise RecordingTooLarge(f"{len(data):,} bytes, of {MAX_BYTES:,} that a file may have")
    write_atomically(Path(path), data)
