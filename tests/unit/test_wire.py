"""The wire format: messages and trees survive it, and anything else raises `WireError`."""

import json
import tracemalloc
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.sandbox.protocol import read_reply, read_request
from tutor.sandbox.wire import (
    MAGIC,
    MAX_BODY,
    MAX_HEADER,
    MAX_NODES,
    MAX_NUMBERED,
    MAX_TREE_DEPTH,
    PREFIX,
    Frame,
    Reader,
    WireError,
    decode,
    encode,
)
from tutor.tree import Leaf, Tree

from .trees import DTYPES, arrays, dtype, identical, trees


def frame(header: Any, body: bytes = b"") -> bytes:
    """Return a frame with any JSON or bytes as its header."""
    data = header if isinstance(header, bytes) else json.dumps(header).encode()
    return PREFIX.pack(MAGIC, len(data), len(body)) + data + body


def holding(tree: Any, *announced: Any, body: bytes = b"") -> bytes:
    return frame({"message": {}, "tree": tree, "arrays": list(announced)}, body)


def deep(text: str, depth: int, inner: str = "") -> bytes:
    """Return a frame whose tree is `text`, nested."""
    before, after = text.split("*")
    tree = before * depth + inner + after * depth
    return frame(f'{{"message":{{}},"arrays":[],"tree":{tree}}}'.encode())


def received(pieces: Iterable[bytes], max_body: int = MAX_BODY) -> list[Frame]:
    reader = Reader(max_body)
    return [one for piece in pieces for one in reader.feed(piece)]


def pieces_of(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(places)]


# --- survives -----------------------------------------------------------------------------------


@given(trees())
@example({"": None, "a": [], "b": (), "c": {}, 0: "", -(2**63): "\x00", "☃\U0001f600\u202e": {}})
@example({"1": "text", 1: "number"})
@example({2**64 - 1: None, 2**200: None})
def test_a_tree_survives_the_wire(tree: Tree) -> None:
    assert identical(decode(encode({}, tree)).tree, tree)


@for_each("name", DTYPES)
@for_each("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_every_dtype_and_shape_survives_the_wire(name: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype(name))
    found = decode(encode({}, Leaf(array, "array"))).tree
    assert isinstance(found, Leaf)
    assert found.array is not None
    assert (found.array.dtype, found.array.shape) == (dtype(name), shape)
    assert (found.array == array).all()


@given(arrays())
def test_layout_and_byte_order_of_an_array_do_not_matter(array: Any) -> None:
    assert encode({}, Leaf(array, "x")) == encode({}, Leaf(array.copy(order="C"), "x"))


def test_nan_and_infinity_survive_bit_for_bit() -> None:
    array = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324])
    assert identical(decode(encode({}, Leaf(array, "x"))).tree, Leaf(array, "x"))


def test_any_json_message_survives_the_wire() -> None:
    message = {"a": [1, 2.5, None, "ü\u2028"], "tree": {"arrays": []}}
    assert json.loads(decode(encode(message)).message) == message


@given(trees(), trees(), st.lists(st.integers(0, 10**6), max_size=6))
def test_frames_are_assembled_from_any_pieces(one: Tree, two: Tree, cuts: list[int]) -> None:
    stream = encode({"n": 1}, one) + encode({"n": 2}, two)
    frames = received(pieces_of(stream, cuts))
    assert [json.loads(f.message)["n"] for f in frames] == [1, 2]
    assert identical(frames[0].tree, one)
    assert identical(frames[1].tree, two)


def test_a_frame_may_come_byte_by_byte() -> None:
    data = encode({}, Leaf(np.arange(3.0), "x"))
    reader = Reader()
    frames: list[Frame] = []
    for index in range(len(data)):
        assert reader.partial == (index > 0)
        frames += reader.feed(data[index : index + 1])
        assert len(frames) == (index == len(data) - 1)
    assert not reader.partial


def test_two_frames_in_one_piece_are_both_read() -> None:
    assert len(received([encode({}) + encode({})])) == 2


def test_a_stream_that_stops_within_a_frame_is_partial() -> None:
    reader = Reader()
    assert list(reader.feed(encode({}) + encode({})[:-1])) != []
    assert reader.partial


# --- not sent -----------------------------------------------------------------------------------


@for_each(
    "array",
    [
        np.array([object()]),
        np.array(["text"]),
        np.array([b"bytes"]),
        np.array(["2020-01-01"], dtype="datetime64[s]"),
        np.zeros(2, dtype=[("a", "f4")]),
        np.zeros(2, dtype="longdouble"),
        np.zeros(2, dtype="V8"),
    ],
    ids=lambda array: str(array.dtype),
)
def test_other_dtypes_are_not_sent(array: Any) -> None:
    with pytest.raises(WireError, match="unexpected dtype"):
        encode({}, {"a": [Leaf(array, "x")]})


@pytest.mark.parametrize("tree", ["\ud800", {"\ud800": None}, ("a", "\udfff"), ["a\udc80b"]])
def test_text_that_is_not_unicode_is_not_sent(tree: Tree) -> None:
    with pytest.raises(WireError, match="surrogates not allowed"):
        encode({}, tree)


def test_a_message_that_is_not_unicode_is_not_sent() -> None:
    with pytest.raises(WireError, match="surrogates not allowed"):
        encode({"message": "\ud800"})


@for_each("key", [(), (1, 2), 1.5, None, b"key"])
def test_keys_other_than_text_and_integers_are_not_sent(key: Any) -> None:
    with pytest.raises(WireError, match="key"):
        encode({}, {key: None})


@pytest.mark.parametrize("value", [{10**5000: None}, {-(10**5000): None}])
def test_an_integer_of_more_digits_than_python_writes_is_not_sent(value: Any) -> None:
    with pytest.raises(WireError, match="4300 digits"):
        encode({}, value)
    with pytest.raises(WireError, match="4300 digits"):
        encode({"line": next(iter(value))})


@pytest.mark.parametrize("around", [lambda t: [t], lambda t: (t,), lambda t: {"k": t}])
def test_a_tree_deeper_than_a_peer_would_read_is_not_sent(around: Any) -> None:
    tree: Tree = None
    for _ in range(MAX_TREE_DEPTH):
        tree = around(tree)
    assert identical(decode(encode({}, tree)).tree, tree)
    for _ in range(3):
        tree = around(tree)
        with pytest.raises(WireError, match="too deep"):
            encode({}, tree)


def test_a_tree_that_holds_itself_is_not_sent() -> None:
    tree: list[Tree] = []
    tree.append(tree)
    with pytest.raises(WireError, match="too deep"):
        encode({}, tree)


def test_a_header_over_the_cap_is_not_sent() -> None:
    with pytest.raises(WireError, match="too large to send"):
        encode({}, "x" * MAX_HEADER)


# --- read or refused ----------------------------------------------------------------------------


def refused_or_read(data: bytes, cuts: Iterable[int] = ()) -> None:
    """Assert that reading raises WireError or yields frames with trees of arrays."""
    try:
        frames = received(pieces_of(data, cuts))
    except WireError:
        return
    for one in frames:
        again = decode(encode({}, one.tree)).tree  # so it is a valid tree
        assert identical(again, one.tree)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=3))
def test_any_bytes_are_read_or_refused(data: bytes, cuts: list[int]) -> None:
    refused_or_read(data, cuts)
    refused_or_read(MAGIC + data, cuts)


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["a", "x", "s", "n", "l", "t", "d", "float32", "bool", "object", "é"]),
    ),
    lambda children: st.one_of(
        st.lists(children, max_size=4),
        st.dictionaries(st.sampled_from(["message", "tree", "arrays", "x"]), children, max_size=3),
    ),
    max_leaves=12,
)


@given(JSON, st.binary(max_size=16))
def test_a_header_of_any_json_is_read_or_refused(header: Any, body: bytes) -> None:
    refused_or_read(frame(header, body))


@given(JSON, JSON, st.binary(max_size=16))
def test_any_node_and_any_announcement_are_read_or_refused(
    tree: Any, announced: Any, body: bytes
) -> None:
    refused_or_read(frame({"message": {}, "tree": tree, "arrays": announced}, body))


@given(
    st.lists(
        st.tuples(st.sampled_from(DTYPES), st.lists(st.integers(-2, 2**66), max_size=5)),
        max_size=3,
    ),
    st.binary(max_size=64),
)
@example([("float32", [0, 2**40, 2**40])], b"")
@example([("float32", [0] + [2**62] * 31)], b"")
@example([("complex128", [2**62, 2**62, 4])], b"")
def test_any_announced_shape_is_read_or_refused(
    announced: list[tuple[str, list[int]]], body: bytes
) -> None:
    nodes = [["a", index, "x"] for index in range(len(announced))]
    refused_or_read(holding(["l", nodes], *announced, body=body))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a valid frame with bytes flipped, deleted, inserted, repeated or moved."""
    data = bytearray(encode({"case": "c", "n": 1}, draw(trees())))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        upto = draw(st.integers(at, min(len(data), at + 12)))
        match draw(st.sampled_from(["flip", "cut", "insert", "repeat", "digit"])):
            case "flip" if at < len(data):
                data[at] ^= draw(st.integers(1, 255))
            case "cut":
                del data[at:upto]
            case "insert":
                data[at:at] = draw(st.binary(min_size=1, max_size=8))
            case "repeat":
                data[upto:upto] = data[at:upto]
            case "digit" if at < len(data):
                data[at] = draw(st.sampled_from(b'0123456789-"[]{},'))
    return bytes(data)


@given(damaged(), st.lists(st.integers(0, 10**6), max_size=3))
def test_a_damaged_frame_is_read_or_refused(data: bytes, cuts: list[int]) -> None:
    refused_or_read(data, cuts)


@given(damaged())
def test_a_damaged_frame_with_a_right_prefix_is_read_or_refused(data: bytes) -> None:
    """The sizes are corrected, so that the damage is found later."""
    header = max(data.rfind(b"}"), PREFIX.size) + 1 - PREFIX.size
    rest = data[PREFIX.size :]
    refused_or_read(PREFIX.pack(MAGIC, header, max(len(rest) - header, 0)) + rest)


# --- refused at once ----------------------------------------------------------------------------


def refuses(data: bytes, why: str | None = None) -> None:
    with pytest.raises(WireError, match=why):
        decode(data)


def test_a_frame_cut_short_is_refused() -> None:
    data = encode({}, Leaf(np.arange(4.0), "x"))
    for length in range(len(data)):
        refuses(data[:length])


def test_bytes_after_a_frame_are_refused() -> None:
    refuses(encode({}, Leaf(np.arange(4.0), "x")) + b"\0")


def test_a_stream_without_frames_is_refused_at_its_first_byte() -> None:
    with pytest.raises(WireError, match="expected a frame"):
        received([b"h"])


def test_a_reader_keeps_refusing_after_an_error() -> None:
    reader = Reader()
    for piece in (b"hello", encode({})):
        with pytest.raises(WireError):
            list(reader.feed(piece))


def test_a_frame_over_the_caps_is_refused_at_its_prefix() -> None:
    for header, body in ((MAX_HEADER + 1, 0), (2**32 - 1, 0), (10, MAX_BODY + 1), (10, 2**64 - 1)):
        with pytest.raises(WireError, match="too large"):
            received([PREFIX.pack(MAGIC, header, body)])


def test_a_reader_enforces_its_cap() -> None:
    data = encode({}, Leaf(np.zeros(100), "x"))
    assert len(received([data], max_body=800)) == 1
    with pytest.raises(WireError, match="too large"):
        received([data], max_body=799)


@for_each(
    ("name", "shape"),
    [
        ("float32", [2**40]),
        ("complex128", [10**6, 10**6, 10**6]),
        ("uint8", [2**63 - 1]),
        ("uint8", [2**64]),
        ("float64", [2**31] * 32),
        ("uint8", [2**32, 2**32]),  # 0 in 64 bits
        ("float32", [0, 2**40, 2**40]),
        ("float32", [2**62, 2**62, 0]),
        ("float32", [10**1000, 0]),
    ],
)
def test_an_enormous_announced_shape_takes_no_memory(name: str, shape: list[int]) -> None:
    data = holding(["a", 0, "x"], [name, shape])
    tracemalloc.start()
    try:
        refuses(data, "announced|unexpected shape")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", [[-1], [2, -2], [1] * 33, [0] * 100_000])
def test_impossible_shapes_are_refused(shape: list[int]) -> None:
    refuses(holding(["a", 0, "x"], ["uint8", shape], body=b"1234"), "unexpected shape")


@for_each(
    "name",
    ["object", "O", "str", "<U4", "datetime64[s]", "float128", "V8", "f4", ">f4", "", "x" * 9999],
    ids=lambda name: name[:16],
)
def test_other_dtypes_are_refused(name: str) -> None:
    with pytest.raises(WireError, match="unexpected dtype") as caught:
        decode(holding(["a", 0, "x"], [name, [1]], body=b"12345678"))
    assert len(str(caught.value)) < 200


@for_each(
    "tree",
    [
        ["a", 1, "x"],
        ["a", -1, "x"],
        ["a", True, "x"],
        ["a", 0.0, "x"],
        ["a", 0],
        ["a", 0, 0],
        ["a", 0, "x", "y"],
        ["l", [["a", 0, "x"], ["a", 0, "x"]]],
        ["l", []],
        ["l", {}],
        ["l"],
        ["t", "text"],
        ["d", [["k"]]],
        ["d", [["k", ["n"], ["n"]]]],
        ["d", [[None, ["n"]]]],
        ["d", [[[1], ["n"]]]],
        ["d", [[1.5, ["n"]]]],
        ["d", [[{}, ["n"]]]],
        ["d", [["k", ["a", 0, "x"]], ["k", ["n"]]]],
        ["d", [[1, ["a", 0, "x"]], [True, ["n"]]]],
        ["s", None],
        ["x"],
        ["n", "n"],
        ["q"],
        [[]],
        [],
        {},
        None,
        "n",
        0,
    ],
    ids=json.dumps,
)
def test_invalid_nodes_are_refused(tree: Any) -> None:
    refuses(holding(tree, ["uint8", [1]], body=b"1"))


def test_arrays_do_not_share_bytes() -> None:
    tree = ["l", [["a", 0, "x"], ["a", 1, "x"]]]
    refuses(holding(tree, ["uint8", [3]], ["uint8", [3]], body=b"1234"), "but 1 bytes are left")
    refuses(holding(tree, ["uint8", [2]], ["uint8", [1]], body=b"1234"), "1 bytes more than ann")


def test_another_prefix_is_refused() -> None:
    data = encode({})
    refuses(b"JXT2" + data[4:], "not a frame")
    refuses(data[:4] + data[4:].swapcase())


def test_arrays_out_of_order_are_refused() -> None:
    two = ["uint8", [1]], ["uint8", [1]]
    refuses(holding(["l", [["a", 0, "x"], ["a", True, "x"]]], *two, body=b"12"))
    right = ["l", [["a", 0, "x"], ["a", 1, "x"]]]
    assert isinstance(decode(holding(right, *two, body=b"12")).tree, list)
    refuses(holding(["l", [["a", 1, "x"], ["a", 0, "x"]]], *two, body=b"12"), "out of order")


def test_an_array_that_no_node_uses_is_refused() -> None:
    refuses(holding(["n"], ["uint8", [1]], body=b"1"), "1 arrays sent, 0 used")


def test_bytes_that_no_array_announced_are_refused() -> None:
    refuses(holding(["n"], body=b"1"), "more than announced")


@for_each("name", ["\x1b[2J", "a\nb", "\u202e", "\x00", "x" * 301])
def test_a_type_whose_name_cannot_be_printed_is_refused(name: str) -> None:
    refuses(holding(["x", name]), "cannot be printed")
    refuses(holding(["a", 0, name], ["uint8", [1]], body=b"1"), "cannot be printed")
    with pytest.raises(WireError, match="cannot be printed"):
        encode({}, {"a": Leaf(np.zeros(1), name)})


def test_a_bool_is_true_or_false() -> None:
    assert isinstance(decode(holding(["a", 0, "x"], ["bool", [2]], body=b"\0\1")).tree, Leaf)
    refuses(holding(["a", 0, "x"], ["bool", [2]], body=b"\1\2"), "neither true nor false")


@for_each(
    "header",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"message":{},"tree":["n"]}',
        b'{"message":{},"arrays":[]}',
        b'{"tree":["n"],"arrays":[]}',
        b'{"message":{},"tree":["n"],"arrays":{}}',
        b'{"message":{},"tree":["n"],"arrays":[["bool"]]}',
        b'{"message":{},"tree":["n"],"arrays":[["bool",[0.5]]]}',
        b'{"message":{},"tree":["n"],"arrays":[["bool",["1"]]]}',
        b'{"message":{},"tree":["n"],"arrays":[["bool",[true]]]}',
        b'{"message":{},"tree":["n"],"arrays":[],"code":"import os"}',
        b'{"message":NaN,"tree":["n"],"arrays":[]}',
        b'{"message":{},"tree":["s",Infinity],"arrays":[]}',
        b'{"message":{},"tree":["s","\\ud800"],"arrays":[]}',
        b'{"message":{},"tree":["s","\xff"],"arrays":[]}',
        b'{"message":{},"tree":["s","\x00"],"arrays":[]}',
        b'{"message":{},"tree":["a",' + b"9" * 5000 + b',"x"],"arrays":[]}',
        b'{"message":{},"tree":["n"],"arrays":[]}{}',
        b'{"message":{},"tree":["n"],"arrays":[],}',
        "{}".encode("utf-16"),
    ],
    ids=lambda header: repr(header)[2:42],
)
def test_invalid_headers_are_refused(header: bytes) -> None:
    refuses(frame(header))


@pytest.mark.parametrize("quoted", ["x" * 100_000, "\x1b[2J", "\u202e", "☃" * 5000 + "\x07"])
def test_errors_quote_little_of_the_peer_and_no_control_characters(quoted: str) -> None:
    def check(read: Callable[[], Any]) -> None:
        with pytest.raises(WireError) as caught:
            read()
        assert len(str(caught.value)) < 400
        assert str(caught.value).isprintable()

    check(lambda: decode(frame({"message": {}, "tree": ["n"], "arrays": [], quoted: 0})))
    check(lambda: read_reply(decode(encode({"type": quoted}))))
    check(lambda: read_request(decode(encode({"type": quoted}))))


def test_a_dict_holds_a_limited_number_of_integer_keys() -> None:
    # The hash of an integer is itself modulo this prime: all of these collide, and 130,000 of
    # them (4 MB) would take minutes to put into a dict.
    keys = [index * (2**61 - 1) for index in range(MAX_NUMBERED + 1)]
    assert identical(decode(encode({}, most := dict.fromkeys(keys[:-1]))).tree, most)
    with pytest.raises(WireError, match="1,000 integer keys"):
        encode({}, dict.fromkeys(keys))
    refuses(holding(["d", [[key, ["n"]] for key in keys]]), "1,000 integer keys")


def test_reading_takes_at_most_twice_the_bytes_of_a_frame() -> None:
    data = encode({}, Leaf(np.zeros(16 << 20, np.uint8), "x"))
    pieces = pieces_of(data, range(0, len(data), 1 << 20))
    tracemalloc.start()
    try:
        (one,) = received(pieces)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(one.tree, Leaf)
    assert held < 1.1 * len(data)
    assert peak < 2.1 * len(data)


@pytest.mark.parametrize("text", ["[*]", '["l",[*]]', '{"a":*}', '["d",[["k",*]]]'])
def test_no_depth_of_nesting_exhausts_the_stack(text: str) -> None:
    # Around the depth limit of the JSON parser, our own parser must hold, too.
    for depth in [*range(400, 1010), 10_000, 100_000]:
        refuses(deep(text, depth, '["n"]'))


@pytest.mark.parametrize("text", ['["l",[*]]', '["t",[*]]', '["d",[["k",*]]]'])
def test_nesting_is_read_to_the_cap_and_no_further(text: str) -> None:
    assert decode(deep(text, MAX_TREE_DEPTH, '["n"]')).tree is not None
    refuses(deep(text, MAX_TREE_DEPTH + 1, '["n"]'), "too deep")
    refuses(deep(text, 300, '["n"]'), "too deep")


def test_more_nodes_than_the_cap_are_refused() -> None:
    inner = ",".join(['["n"]'] * MAX_NODES)
    refuses(deep('["l",[*]]', 1, inner), "too large")
    none = ",".join(['["bool",[0]]'] * (MAX_NODES + 1))
    header = f'{{"message":{{}},"tree":["n"],"arrays":[{none}]}}'
    refuses(frame(header.encode()), "200,001 arrays")
