"""Valid streams to start fuzzing from: every message, every node, every dtype.

    python -m tests.fuzz.seeds FOLDER

writes them to FOLDER, named by their hashes.
"""

import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import ml_dtypes
import numpy as np

from tutor.report import Protection
from tutor.sandbox.protocol import (
    Answer,
    Broken,
    Load,
    Loaded,
    Noticed,
    Observe,
    Raised,
    Ready,
    Reply,
    Request,
    Step,
)
from tutor.sandbox.wire import encode
from tutor.tree import Leaf, Tree

MESSAGES: tuple[Reply | Request, ...] = (
    Load("c1", "def f(x):\n    return x\n", "lesson.py"),
    Load("c1", "def run(f, x):\n    return [f(x)]\n", "<jax_harness>", harness=True),
    Observe("c2", "vmap", {"expression": "f(x)", "in_axes": [0, None], "tol": 1e-3, "on": True}),
    Ready(
        {"jax": "0.10.2"}, 4, "cpu", [Protection("memory", True, "2 GB"), Protection("x", False)]
    ),
    Loaded("c1"),
    Answer("c2", 0.25, 1e-6),
    Raised("c3", "raised", "TypeError", "no ☃", "f(x)", [Step(3, "f"), Step(9, "g")], 3, 17),
    Raised("c3", "malformed", "WireError", "", "", []),
    Broken("c4", "KeyError: 'x'"),
)

NOTICE = Noticed("stack", "sys._getframe", 12)
"""Never comes with a tree."""

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
    np.dtype(ml_dtypes.bfloat16),
)


def trees() -> Iterator[Tree]:
    yield None
    yield "text ü \x00"
    yield Leaf(None, "flax.linen.Module")
    yield []
    yield ()
    yield {}
    yield {"w": None, 0: "zero", -1: [], True: "yes", 2**70: ()}
    yield [{"a": ("x", None)}, ({"b": []},), Leaf(None, "function")]
    for dtype in DTYPES:
        yield Leaf(np.ones((2,), dtype), "jax.Array")
    for shape in ((), (0,), (2, 0, 3), (2, 3), (1,) * 32):
        yield Leaf(np.zeros(shape, "int16"), "torch.Tensor")
    numbers = np.array([np.nan, np.inf, -0.0])
    yield {"x": Leaf(numbers, "numpy.ndarray"), "key": Leaf(np.array([1, 2], "uint32"), "key")}
    deep: Tree = Leaf(np.array(1), "int")
    for level in range(20):
        nested: tuple[Tree, ...] = ([deep], (deep,), {"k": deep})
        deep = nested[level % 3]
    yield deep


def seeds() -> Iterator[bytes]:
    """Yield inputs for `fuzz_wire.check`: how to cut the stream, and the stream."""
    every = tuple(trees())
    cuts = (b"\0", b"\1\0", b"\2\3\x0b", b"\1\x28")  # at once, byte by byte, mixed, in lumps
    for index in range(max(len(every), len(MESSAGES))):
        message, tree = MESSAGES[index % len(MESSAGES)], every[index % len(every)]
        yield cuts[index % len(cuts)] + encode(message, tree)
    yield b"\0" + encode(NOTICE)
    for one, other in zip(MESSAGES, reversed(MESSAGES), strict=True):
        yield b"\2\x20\x01" + encode(one, Leaf(np.arange(3), "array")) + encode(other, ["two"])


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds():
        (folder / sha256(seed).hexdigest()[:16]).write_bytes(seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
