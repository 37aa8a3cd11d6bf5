"""Fuzz what reads the bytes of hostile processes: `Reader`, `decode`, `read_reply`, `read_request`.

atheris is needed for nothing else, so it gets an environment of its own:

    python3.11 -m venv build/fuzz
    build/fuzz/bin/pip install -c constraints.txt atheris==3.0.0 numpy msgspec ml-dtypes

From the top of the repository, ten minutes; what is found new goes into `build/found`, and an
input that breaks a promise into `build/crash-…`:

    mkdir -p build/found
    build/fuzz/bin/python -m tests.fuzz.fuzz_wire -max_total_time=600 -max_len=4096 -timeout=5 \\
        -artifact_prefix=build/ build/found tests/fuzz/corpus/wire

The corpus is `tests/fuzz/corpus/wire`; `test_corpus.py` replays it in every ordinary test run. To
keep what was found, as few and as small inputs as reach the same code:

    mkdir build/kept
    build/fuzz/bin/python -m tests.fuzz.seeds build/found
    build/fuzz/bin/python -m tests.fuzz.fuzz_wire -merge=1 build/kept tests/fuzz/corpus/wire \\
        build/found

and put `build/kept` in the corpus's place. After mending what a crash showed, add its input too.
"""

import math
import shlex
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

if __name__ == "__main__":
    # First of all, for what is imported before is not instrumented. By name, so that type
    # checkers need no atheris either.
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["tutor.sandbox", "tutor.tree"]):
        import_module("tutor.sandbox.protocol")

import msgspec
from msgspec import Raw, Struct

from tests.fuzz.mutate import mutator
from tutor.sandbox.protocol import read_reply, read_request
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
"""Bytes of arrays in one frame: little, so that frames at the cap are tried often."""

LONGEST_REFUSAL = 400
"""Characters. A refusal is shown to people, so no peer may decide how long it is, or what a
terminal does with it."""


def check(data: bytes) -> list[Frame]:
    """The frames in `data`, after trying everything that is promised of them.

    **Arguments:** `data`: how to cut the stream (a byte that says how many sizes follow, and the
    sizes, used in turn), then the stream.

    Raises:
        AssertionError: a promise does not hold; and so does any other exception mean.
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
    """The frames, and whether something in between was refused."""
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
    """What a header says, before anybody has made arrays and trees of it."""

    message: Raw
    tree: Any
    arrays: Any


def _check_frame(frame: Frame, sent: bytes) -> None:
    """That a frame holds what was sent and nothing more, and can be sent on."""
    again = _again(frame)
    one, other = _split(sent), _split(again)
    assert one == other, f"sent {one}, sent on {other}"
    back = decode(again)
    assert _again(back) == again
    _, _, body = PREFIX.unpack_from(sent)
    assert _array_bytes(frame.tree) == body <= CAP
    for read in (read_reply, read_request):
        try:
            message = read(frame)
        except WireError as error:
            _check_refusal(error)
        else:
            assert read(decode(encode(message, frame.tree))) == message


def _split(frame: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Message, tree, arrays as announced, and their bytes; as JSON, where 1 is not true."""
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
    # Looked up late: atheris puts the working one in its place when it starts.
    mutate = mutator(lambda data, max_size: bytes(atheris.Mutate(data, max_size)))
    # For -merge libFuzzer runs the program anew, through a shell and by its first argument.
    program = f"{shlex.quote(sys.executable)} -m tests.fuzz.fuzz_wire"
    atheris.Setup([program, *sys.argv[1:]], check, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
