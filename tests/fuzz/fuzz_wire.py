"""Fuzz the parsers of bytes from hostile processes: `Reader`, `decode`, `read_reply`,
`read_request`, `read_notice`.

atheris is needed only here, so install it in a separate environment:

    python3.11 -m venv build/fuzz
    build/fuzz/bin/pip install -c constraints.txt atheris==3.0.0 numpy msgspec ml-dtypes

Run it for ten minutes from the root of the repository. New inputs go to `build/found`, and an input
that violates a guarantee to `build/crash-…`:

    mkdir -p build/found
    build/fuzz/bin/python -m tests.fuzz.fuzz_wire -max_total_time=600 -max_len=4096 -timeout=5 \\
        -artifact_prefix=build/ build/found tests/fuzz/corpus/wire

The corpus is `tests/fuzz/corpus/wire`; `test_corpus.py` replays it in every test run. To add what
was found, with the fewest and smallest inputs that reach the same code:

    mkdir build/kept
    build/fuzz/bin/python -m tests.fuzz.seeds build/found
    build/fuzz/bin/python -m tests.fuzz.fuzz_wire -merge=1 build/kept tests/fuzz/corpus/wire \\
        build/found

and replace the corpus by `build/kept`. After fixing a crash, add its input too.
"""

import math
import shlex
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

if __name__ == "__main__":
    # First, because modules imported earlier are not instrumented. By name, so that type checkers
    # do not need atheris.
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["tutor.sandbox", "tutor.tree"]):
        import_module("tutor.sandbox.protocol")

import msgspec
from msgspec import Raw, Struct

from tests.fuzz.mutate import mutator
from tutor.sandbox.protocol import read_notice, read_reply, read_request
from tutor.sandbox.wire import (
    MAX_EXTENT,
    PREFIX,
    Frame,
    Reader,
    WireError,
    decode,
    encode,
)
from tutor.tree import Leaf, Tree

CAP = 1024
"""Maximum bytes of arrays in a frame: small, so that frames at the limit are common."""

LONGEST_REFUSAL = 400
"""Characters. A refusal is shown to people, so a peer must not control its length, or the
terminal."""


def check(data: bytes) -> list[Frame]:
    """Return the frames in `data`, after testing all guarantees about them.

    **Arguments:** `data`: how to cut the stream (a byte with the number of sizes, then the sizes,
    used in turn), then the stream.

    Raises:
        AssertionError: a guarantee is violated, as any other exception means too.
    """
    pieces, stream = _cut(data)
    frames, refused = _received(pieces)
    at_once, refused_at_once = _received([stream])
    assert refused == refused_at_once
    assert list(map(_again, frames)) == list(map(_again, at_once))
    start = 0
    for frame in frames:
        _, header, body = PREFIX.unpack_from(stream, start)
        end = start + PREFIX.size + header + body
        _check_frame(frame, stream[start:end])
        start = end
    return frames


def _cut(data: bytes) -> tuple[list[bytes], bytes]:
    count = data[0] % 8 if data else 0
    sizes, stream = data[1 : 1 + count], data[1 + count :]
    if not sizes:
        return [stream], stream
    pieces, start, index = [], 0, 0
    while start < len(stream):
        end = start + 1 + sizes[index % len(sizes)]
        pieces.append(stream[start:end])
        start, index = end, index + 1
    return pieces, stream


def _received(pieces: Iterable[bytes]) -> tuple[list[Frame], bool]:
    """Return the frames before the first refusal, and whether there was one."""
    reader = Reader(CAP)
    frames: list[Frame] = []
    try:
        for piece in pieces:
            for frame in reader.feed(piece):
                frames.append(frame)  # noqa: PERF402 - to keep those before a refusal
    except WireError as error:
        _check_refusal(error)
        return frames, True
    return frames, False


def _again(frame: Frame) -> bytes:
    return encode(Raw(frame.message), frame.tree)


class _Header(Struct):
    """A header before it is decoded into arrays and trees."""

    message: Raw
    tree: Any
    arrays: Any


def _check_frame(frame: Frame, sent: bytes) -> None:
    """Check that a frame contains exactly what was sent, and can be sent on."""
    again = _again(frame)
    one, other = _split(sent), _split(again)
    assert one == other, f"sent {one}, sent on {other}"
    back = decode(again)
    assert _again(back) == again
    _, _, body = PREFIX.unpack_from(sent)
    assert _array_bytes(frame.tree) == body <= CAP
    if (notice := read_notice(frame)) is not None:
        assert read_notice(decode(encode(notice))) == notice
    for read in (read_reply, read_request):
        try:
            message = read(frame)
        except WireError as error:
            _check_refusal(error)
        else:
            assert read(decode(encode(message, frame.tree))) == message


def _split(frame: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Return the message, the tree, the announced arrays, as JSON (where 1 is not true), and the
    body."""
    _, size, _ = PREFIX.unpack_from(frame)
    text, body = frame[PREFIX.size :][:size], frame[PREFIX.size + size :]
    header = msgspec.json.decode(text, type=_Header)
    tree, arrays = msgspec.json.encode(header.tree), msgspec.json.encode(header.arrays)
    return bytes(header.message), tree, arrays, body


def _array_bytes(tree: Tree) -> int:
    if isinstance(tree, dict):
        return sum(map(_array_bytes, tree.values()))
    if isinstance(tree, list | tuple):
        return sum(map(_array_bytes, tree))
    if not isinstance(tree, Leaf):
        assert tree is None or isinstance(tree, str)
        return 0
    if tree.array is None:
        return 0
    assert math.prod(max(size, 1) for size in tree.array.shape) <= MAX_EXTENT
    return tree.array.nbytes


def _check_refusal(error: WireError) -> None:
    assert len(str(error)) <= LONGEST_REFUSAL, f"a refusal of {len(str(error))} characters"
    assert str(error).isprintable()


def main() -> None:
    # Looked up late: atheris replaces `Mutate` when it starts.
    mutate = mutator(lambda data, max_size: bytes(atheris.Mutate(data, max_size)))
    # For -merge, libFuzzer restarts the program through a shell, by its first argument.
    program = f"{shlex.quote(sys.executable)} -m tests.fuzz.fuzz_wire"
    atheris.Setup([program, *sys.argv[1:]], check, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
