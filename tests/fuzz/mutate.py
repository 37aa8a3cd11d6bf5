"""Mutations of a stream of frames that reach deep into the parser.

Random changes to bytes nearly always break a frame's sizes or its JSON, and test nothing beyond
them. So most mutations change a header's JSON or text, and correct the sizes.
"""

import json
import math
import operator
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tutor.sandbox.wire import MAGIC, PREFIX

Bytes = Callable[[bytes, int], bytes]
"""libFuzzer's own mutation, of bytes and a maximum size."""

SCRAPS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 31, 32, 33, 255, 2**31, 2**32, 2**40, 2**62, 2**63, 2**64),
    *(2**200, 0.5, -0.0, 1e308, "", "a", "x", "s", "n", "l", "t", "d", "bool", "int8", "float32"),
    *("bfloat16", "complex128", "object", "\x1b[2J", "\u202e", "☃", "x" * 301, [], {}, ["n"]),
    *(["s", "text"], ["x", "type"], ["a", 0, "x"], ["a", 1, "x"], ["l", []], ["t", [["n"]]]),
    *(["d", []], ["d", [["k", ["n"]]]], ["d", [[1, ["n"]], [True, ["n"]]]], [0] * 33, [1] * 32),
    *(["bool", [1]], ["uint8", [0]], ["float32", [0, 2**40]], ["int8", [2**63, 2]]),
    *({"type": "loaded", "case": "c"}, {"type": "answer", "case": "c", "compile": 1, "run": 0}),
    *({"type": "ready"}, {"type": "load"}, {"type": "observe", "args": {}}, {"case": "d"}),
    *("message", "tree", "arrays", "type", "case", "compile", "steps", "line"),
)

Slot = tuple[Any, Any]
"""A list and an index, or a dict and a key."""


def mutator(change_bytes: Bytes) -> Callable[[bytes, int, int], bytes]:
    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        random = Random(seed)
        if random.random() < 0.2:
            return change_bytes(data, max_size)
        count = 1 + (data[0] % 8 if data else 0)
        cuts, frames = data[:count] or b"\0", _frames(data[count:]) or [(b"{}", b"")]
        index = random.randrange(len(frames))
        match random.randrange(10):
            case 0:
                sizes = [
                    random.choice((0, 1, 3, 15, 16, 40, 255)) for _ in range(random.randrange(4))
                ]
                cuts = bytes([len(sizes), *sizes])
            case 1:
                frames.insert(index, random.choice(frames))
            case 2:
                del frames[index]
            case _:
                frames[index] = _changed(*frames[index], random, change_bytes)
        stream = b"".join(PREFIX.pack(MAGIC, len(h), len(b)) + h + b for h, b in frames)
        return (cuts + stream)[:max_size]

    return mutate


def _frames(stream: bytes) -> list[tuple[bytes, bytes]]:
    """Return the headers and bodies, as far as the stream goes."""
    frames = []
    while len(stream) >= PREFIX.size:
        _, header, body = PREFIX.unpack_from(stream)
        stream = stream[PREFIX.size :]
        frames.append((stream[:header], stream[header:][:body]))
        stream = stream[header + body :]
    return frames


def _changed(header: bytes, body: bytes, random: Random, change: Bytes) -> tuple[bytes, bytes]:
    kind = random.random()
    if kind < 0.15:
        return change(header, len(header) + 40), body
    if kind < 0.3:
        return header, change(body, len(body) + 20)
    try:
        value = json.loads(header)
    except (ValueError, RecursionError):
        return change(header, len(header) + 40), body
    for _ in range(random.choice((1, 1, 2, 4))):
        value = _other(value, random)
    if kind < 0.6:
        body = body.ljust(_announced(value), b"\1")[: _announced(value)]
    return json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf-8", "replace"), body


def _announced(header: Any) -> int:
    """Return the bytes of the announced arrays; 0 if that makes no sense."""
    total = 0
    try:
        for name, shape in header["arrays"]:
            size = {"bool": 1, "bfloat16": 2}.get(name) or int(name.lstrip("abcdefilmnoptux")) // 8
            total += size * math.prod(map(operator.index, shape))
    except (TypeError, ValueError, KeyError, AttributeError):
        return 0
    return total if 0 <= total <= 1100 else 0


def _other(value: Any, random: Random) -> Any:
    """Return `value` with one slot changed."""
    root = [value]
    slots = list(_slots(root))
    container, key = random.choice(slots)
    scrap = json.loads(json.dumps(random.choice(SCRAPS)))
    old = container[key]
    match random.randrange(9):
        case 0 | 1:
            container[key] = scrap
        case 2:
            other, index = random.choice(slots)
            container[key] = json.loads(json.dumps(other[index]))
        case 3 if container is not root:
            del container[key]
        case 4 if isinstance(container, list) and container is not root:
            container.insert(key, random.choice((scrap, json.loads(json.dumps(old)))))
        case 5 if isinstance(old, dict):
            old[scrap if isinstance(scrap, str) else "x"] = scrap
        case 5 if isinstance(old, list):
            old.append(scrap)
        case 6:
            node = random.choice((["l", [old]], ["t", [old]], ["d", [["k", old]]], [old]))
            for _ in range(random.choice((0, 0, 0, 60, 64))):
                node = ["l", [node]]
            container[key] = node
        case 7 if isinstance(old, int):
            container[key] = old + random.choice((-1, 1, 2**32, 2**64)) * random.choice((1, 1, 2))
        case 7 if isinstance(old, str):
            container[key] = random.choice((old + old, old[1:], old + "\x00", old.upper()))
        case _:
            container[key] = random.choice((old, scrap))
    return root[0]


def _slots(value: Any) -> Iterator[Slot]:
    stack = [value]
    while stack:
        inner = stack.pop()
        keys: Any = range(len(inner)) if isinstance(inner, list) else list(inner)
        for key in keys:
            yield inner, key
            if isinstance(inner[key], list | dict):
                stack.append(inner[key])
