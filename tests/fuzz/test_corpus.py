"""Replay the fuzzer's corpus, without a fuzzer."""

import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.cases import for_each
from tutor.sandbox.protocol import read_notice, read_reply, read_request
from tutor.sandbox.wire import MAGIC, MAX_BODY, MAX_HEADER, PREFIX, Frame, Reader, WireError

from .fuzz_wire import check
from .seeds import MESSAGES, NOTICE, seeds

CORPUS = sorted((Path(__file__).parent / "corpus" / "wire").iterdir())

BODY_COST, HEADER_COST, SLACK = 2, 48, 1 << 20
"""The memory that reading a frame may take, per byte of the stream and of the header, and in
addition. The measured worst case for a header is 35: the smallest JSON values become Python
objects."""


@for_each("path", CORPUS, ids=lambda path: path.name)
def test_every_guarantee_holds_for_the_corpus(path: Path) -> None:
    check(path.read_bytes())


def test_the_corpus_reaches_beyond_refusals() -> None:
    """A target that no longer read anything would pass every other test."""
    assert len(CORPUS) > 50
    assert sum(len(check(path.read_bytes())) for path in CORPUS) > len(CORPUS) / 4


def test_every_seed_is_read_and_together_they_hold_every_message() -> None:
    kinds: Counter[type] = Counter()
    for seed in seeds():
        frames = check(seed)
        assert frames
        for frame in frames:
            if (notice := read_notice(frame)) is not None:
                kinds[type(notice)] += 1
            for read in (read_reply, read_request):
                try:
                    kinds[type(read(frame))] += 1
                except WireError:
                    pass  # a message of the other direction
    assert set(kinds) == {type(message) for message in (*MESSAGES, NOTICE)}


def test_replaying_needs_no_fuzzer() -> None:
    assert "atheris" not in sys.modules


# --- memory ----------------------------------------------------------------------------------


def many(text: str, room: int = MAX_HEADER // 4) -> str:
    """Return a JSON list that repeats `text`. A quarter of the limit shows the cost per byte."""
    return "[" + ",".join([text] * (room // (len(text) + 1))) + "]"


def stream(tree: str = '["n"]', arrays: str = "", message: str = "{}") -> bytes:
    header = f'{{"message":{message},"arrays":[{arrays}],"tree":{tree}}}'.encode()
    return PREFIX.pack(MAGIC, len(header), 0) + header


def observe(args: str) -> str:
    return f'{{"type":"observe","case":"","inside":"","args":{{"a":{args}}}}}'


ONE = '["a",0,"x"]'

NASTY: dict[str, Callable[[], bytes]] = {  # made when needed
    "a body of 2**64 bytes": lambda: PREFIX.pack(MAGIC, 2, 2**64 - 1),
    "a body at the cap that never comes": lambda: PREFIX.pack(MAGIC, 2, MAX_BODY) + b"{}",
    "a header of 4 GB": lambda: PREFIX.pack(MAGIC, 2**32 - 1, 0),
    "a header at the cap that never comes": lambda: PREFIX.pack(MAGIC, MAX_HEADER, 0) + b"{",
    "an array of 2**62 bytes": lambda: stream(ONE, f'["float32",[{2**60}]]'),
    "an array of 2**64 bytes": lambda: stream(ONE, f'["uint8",[{2**32},{2**32}]]'),
    "an empty array of endless axes": lambda: stream(ONE, f'["int8",[0,{2**62},{2**62}]]'),
    "axes of so many digits": lambda: stream(ONE, f'["int8",{many("9" * 4300, 32 * 4301)}]'),
    "half a million axes": lambda: stream(ONE, f'["int8",{many("0")}]'),
    "arrays that are not there": lambda: stream(arrays=many('["bool",[]]')[1:-1]),
    "empty arrays": lambda: stream(arrays=many('["bool",[0]]')[1:-1]),
    "empty lists": lambda: stream(many("[]")),
    "empty dicts": lambda: stream(many("{}")),
    "dicts of one": lambda: stream(many('{"":0}')),
    "lists of lists": lambda: stream(many('[["n"]]')),
    "nodes": lambda: stream('["l",' + many('["x","é"]') + "]"),
    "a message of dicts": lambda: stream(message=observe(many('{"":0}'))),
    "long integers": lambda: stream(many("9" * 4300)),
    "a long integer": lambda: stream("9" * 4_000_000),
    "a long fraction": lambda: stream("0." + "9" * 4_000_000),
    "lists that never end": lambda: stream("[" * 4_000_000),
    "a long key": lambda: stream('["d",[["' + "k" * 4_000_000 + '",["n"]]]]'),
}


def read(data: bytes) -> Iterable[Frame]:
    """Read frames as from a sandbox, in the pieces that a pipe delivers."""
    reader = Reader()
    for start in range(0, len(data), 1 << 16):
        for frame in reader.feed(data[start : start + (1 << 16)]):
            for read_message in (read_reply, read_request):
                try:
                    read_message(frame)
                except WireError:
                    pass
            yield frame


@for_each("nasty", NASTY)
def test_no_announcement_takes_more_memory_than_is_declared(nasty: str) -> None:
    data = NASTY[nasty]()
    header = min(PREFIX.unpack_from(data)[1], len(data) - PREFIX.size)
    tracemalloc.start()
    try:
        list(read(data))
    except WireError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < BODY_COST * len(data) + HEADER_COST * header + SLACK
