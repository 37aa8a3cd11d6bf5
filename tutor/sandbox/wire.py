"""Frames: messages and arrays between the main process and a sandbox.

    frame  = b"JXT1" | header length, u32 | body length, u64 | header | body
    header = JSON {"message": {...}, "tree": node, "arrays": [[dtype, shape], ...]}
    body   = the arrays' bytes in that order, C layout, little endian, nothing between them

A node is a JSON list: `["a", i, type]` array number i, `["x", type]` not an array,
`["s", text]`, `["n"]` None, `["l", [nodes]]`, `["t", [nodes]]`, `["d", [[key, node], …]]`.

Whatever a peer sends, reading it raises `WireError` or returns a tree of NumPy arrays. Nothing in a
frame can name code, and memory is bounded: twice a frame's bytes while it is read, and less than
fifty times its header's, because many tiny values become objects.
"""

import math
import struct
from collections.abc import Iterator
from typing import Any, NoReturn

import msgspec
import numpy as np
from msgspec import Struct

from tutor.tree import Leaf, Tree

MAGIC = b"JXT1"
PREFIX = struct.Struct("<4sIQ")
MAX_HEADER = 4 << 20
MAX_BODY = 256 << 20
MAX_TREE_DEPTH = 64
MAX_NODES = 200_000
MAX_RANK = 32
MAX_NUMBERED = 1_000
"""Integer keys in one dict. Unlike text they can be chosen so that all hashes collide, and then
filling the dict takes quadratic time."""
MAX_LABEL = 300
MAX_EXTENT = 1 << 40
"""Elements of a shape, counting axes of size 0 as 1: an empty array has no bytes to bound it."""

_DTYPES: dict[str, "np.dtype[Any]"] = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}


class WireError(ValueError):
    """A frame is malformed. The message says why."""


class _Header(Struct, forbid_unknown_fields=True):
    message: msgspec.Raw
    tree: Any
    arrays: list[tuple[str, list[int]]]


class Frame(Struct, frozen=True):
    """A received message: JSON still to be decoded by type, and its tree."""

    message: bytes
    tree: Tree


def dtype_named(name: str) -> "np.dtype[Any]":
    """Return a dtype by name. Raises: WireError: it may not be sent."""
    if name == "bfloat16":
        import ml_dtypes

        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    if name not in _DTYPES:
        raise WireError(f"unexpected dtype {name[:80]!r}")
    return _DTYPES[name]


def encode(message: Any, tree: Tree = None) -> bytes:
    """Return a frame with `message` (anything msgspec can encode as JSON) and `tree`.

    Raises:
        WireError: something in it cannot cross: an array's dtype, a key that is neither text nor
            an integer, text that is not valid Unicode; or it is too deep or too large.
    """
    arrays: list[np.ndarray[Any, Any]] = []
    node = _pack(tree, arrays, 0)
    try:
        header = msgspec.json.encode(
            {
                "message": message,
                "tree": node,
                "arrays": [[array.dtype.name, list(array.shape)] for array in arrays],
            }
        )
    except (ValueError, RecursionError) as error:
        # Text that is not Unicode, or an integer of more digits than Python writes.
        raise WireError(f"cannot be sent: {error}") from None
    # Before any is copied: an array made by broadcasting may be larger than all memory.
    size = sum(array.nbytes for array in arrays)
    if len(header) > MAX_HEADER or size > MAX_BODY:
        raise WireError(f"too large to send: {len(header):,} + {size:,} bytes")
    body = [np.ascontiguousarray(array).tobytes() for array in arrays]
    return b"".join([PREFIX.pack(MAGIC, len(header), size), header, *body])


def _pack(tree: Tree, arrays: list["np.ndarray[Any, Any]"], depth: int) -> list[Any]:
    if depth > MAX_TREE_DEPTH:
        raise WireError("tree too deep to send")
    if tree is None:
        return ["n"]
    if isinstance(tree, str):
        return ["s", tree]
    if isinstance(tree, dict):
        if not all(isinstance(key, str | int) for key in tree):
            raise WireError("a key that is neither text nor an integer cannot be sent")
        if sum(isinstance(key, int) for key in tree) > MAX_NUMBERED:
            raise WireError(f"more than {MAX_NUMBERED:,} integer keys in one dict cannot be sent")
        return ["d", [[key, _pack(child, arrays, depth + 1)] for key, child in tree.items()]]
    if isinstance(tree, list):
        return ["l", [_pack(child, arrays, depth + 1) for child in tree]]
    if isinstance(tree, tuple):
        return ["t", [_pack(child, arrays, depth + 1) for child in tree]]
    if tree.array is None:
        return ["x", _label(tree.type)]
    array = tree.array
    dtype_named(array.dtype.name)
    arrays.append(array.astype(array.dtype.newbyteorder("<"), copy=False))
    return ["a", len(arrays) - 1, _label(tree.type)]


class Reader:
    """Assemble frames from pieces.

    **Arguments:** `max_body`: bytes of array data to accept in one frame.
    """

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self._buffer = bytearray()
        self._max_body = max_body

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that `data` completes. Raises: WireError: the bytes are not a frame, or
        it is too large."""
        self._buffer += data
        while (size := self._complete()) is not None:
            frame = bytes(memoryview(self._buffer)[:size])  # one copy, as a slice would make
            del self._buffer[:size]
            yield decode(frame)

    @property
    def partial(self) -> bool:
        """Whether the data so far ends in the middle of a frame."""
        return bool(self._buffer)

    def _complete(self) -> int | None:
        head = bytes(self._buffer[: PREFIX.size])
        if not MAGIC.startswith(head[: len(MAGIC)]):
            raise WireError(f"expected a frame, got {head[:16]!r}")
        if len(head) < PREFIX.size:
            return None
        _, header, body = PREFIX.unpack(head)
        if header > MAX_HEADER or body > self._max_body:
            raise WireError(f"frame too large: header {header:,} bytes, arrays {body:,} bytes")
        size = PREFIX.size + header + body
        return size if len(self._buffer) >= size else None


def decode(frame: bytes) -> Frame:
    """Decode one whole frame. Raises: WireError: it is malformed."""
    if len(frame) < PREFIX.size:
        raise WireError("frame cut short")
    magic, header_size, body_size = PREFIX.unpack_from(frame)
    if magic != MAGIC or len(frame) != PREFIX.size + header_size + body_size:
        raise WireError("not a frame")
    start = PREFIX.size + header_size
    try:
        header = msgspec.json.decode(frame[PREFIX.size : start], type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"invalid header: {describe(error)}") from None
    arrays = _arrays(header.arrays, memoryview(frame)[start:])
    return Frame(bytes(header.message), _Unpacker(arrays).whole(header.tree))


def _arrays(headers: list[tuple[str, list[int]]], body: memoryview) -> list["np.ndarray[Any, Any]"]:
    arrays: list[np.ndarray[Any, Any]] = []
    offset = 0
    if len(headers) > MAX_NODES:
        raise WireError(f"{len(headers):,} arrays in one frame")
    for name, shape in headers:
        dtype = dtype_named(name)
        shown = str(shape[:MAX_RANK])[:80]
        if len(shape) > MAX_RANK or any(size < 0 for size in shape):
            raise WireError(f"unexpected shape {shown}")
        count = math.prod(shape)
        if count * dtype.itemsize > len(body) - offset:
            raise WireError(f"{name}{shown} announced, but {len(body) - offset} bytes are left")
        if math.prod(max(size, 1) for size in shape) > MAX_EXTENT:
            raise WireError(f"unexpected shape {shown}")
        array = np.frombuffer(body, dtype=dtype, count=count, offset=offset) if count else (
            np.empty(0, dtype)
        )  # fmt: skip
        if name == "bool" and array.view(np.uint8).max(initial=0) > 1:
            raise WireError("a bool that is neither true nor false")
        arrays.append(array.reshape(shape))
        offset += count * dtype.itemsize
    if offset != len(body):
        raise WireError(f"{len(body) - offset} bytes more than announced")
    return arrays


class _Unpacker:
    """Convert nodes to trees: each array exactly once, in order, within the caps."""

    def __init__(self, arrays: list["np.ndarray[Any, Any]"]) -> None:
        self._arrays = arrays
        self._used = 0
        self._nodes = 0

    def whole(self, node: Any) -> Tree:
        tree = self._tree(node, 0)
        if self._used != len(self._arrays):
            raise WireError(f"{len(self._arrays)} arrays sent, {self._used} used")
        return tree

    def _tree(self, node: Any, depth: int) -> Tree:
        self._nodes += 1
        if depth > MAX_TREE_DEPTH or self._nodes > MAX_NODES:
            raise WireError("tree too deep or too large")
        match node:
            case ["n"]:
                return None
            case ["s", str(text)]:
                return text
            case ["x", str(kind)]:
                return Leaf(None, _label(kind))
            case ["a", int(index), str(kind)] if index is not True and index is not False:
                if index != self._used or index >= len(self._arrays):
                    raise WireError(f"array {index} out of order")
                self._used += 1
                return Leaf(self._arrays[index], _label(kind))
            case ["l", list(children)]:
                return [self._tree(child, depth + 1) for child in children]
            case ["t", list(children)]:
                return tuple(self._tree(child, depth + 1) for child in children)
            case ["d", list(pairs)]:
                return self._dict(pairs, depth)
        return _refuse(node)

    def _dict(self, pairs: list[Any], depth: int) -> Tree:
        result: dict[str | int, Tree] = {}
        numbered = 0
        for pair in pairs:
            match pair:
                case [str() | int() as key, child]:
                    numbered += isinstance(key, int)
                    if numbered > MAX_NUMBERED:
                        raise WireError(f"more than {MAX_NUMBERED:,} integer keys in one dict")
                    if key in result:
                        raise WireError(f"key {str(key)[:80]!r} twice")
                    result[key] = self._tree(child, depth + 1)
                case _:
                    _refuse(pair)
        return result


def describe(error: Exception) -> str:
    """Return a parser's message, shortened and printable: it may quote a hostile peer."""
    text = str(error)[:MAX_LABEL]
    return text if text.isprintable() else ascii(text)[:MAX_LABEL]


def _label(kind: str) -> str:
    """Check a leaf's type name, which messages quote."""
    if len(kind) > MAX_LABEL or not kind.isprintable():
        raise WireError("a type's name that cannot be printed")
    return kind


def _refuse(node: Any) -> NoReturn:
    # Not the whole node: it may be nested as deeply as the JSON parser allows.
    tag = node[0] if isinstance(node, list) and node else None
    shown = repr(tag[:20]) if isinstance(tag, str) else type(node).__name__
    raise WireError(f"unexpected node {shown}")
