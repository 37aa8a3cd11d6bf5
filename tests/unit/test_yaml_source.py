"""YAML from strangers: only plain data comes out, every place is exact, nothing runs or hangs."""

import os
import re
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import (
    MAX_BYTES,
    MAX_DEPTH,
    BadSource,
    MappingNode,
    Node,
    Problem,
    ScalarNode,
    SequenceNode,
    parse,
    read,
    walk,
)


def parsed(text: str | bytes) -> MappingNode:
    node, problems = parse(text.encode() if isinstance(text, str) else text, "f.yaml")
    assert problems == []
    return node


def problem(text: str | bytes) -> Problem:
    with pytest.raises(BadSource) as caught:
        parse(text.encode() if isinstance(text, str) else text, "f.yaml")
    assert caught.value.problem.file == "f.yaml"
    return caught.value.problem


def refuses(text: str | bytes, line: int, column: int, message: str) -> None:
    found = problem(text)
    assert (found.line, found.column) == (line, column)
    assert message in str(found)


def scalar(text: str) -> ScalarNode:
    """The value of the one entry of a mapping."""
    ((_, value),) = parsed(text).entries
    assert isinstance(value, ScalarNode)
    return value


# --- plain data comes out ------------------------------------------------------------------


class Quoted(str):
    __slots__ = ()


class Dumper(yaml.SafeDumper):
    """Quotes all text, as YAML 1.1 and 1.2 disagree about what is none; and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


STYLES = st.sampled_from(["'", '"', "|", ">"])


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, str]:
    """Nested data and one way of writing it down."""
    text = st.text(
        st.characters(
            exclude_categories=["Cs", "Cc", "Cn"], exclude_characters="\u2028\u2029\ufeff",
            include_characters="\n\t",
        ),
        max_size=30,
    )  # fmt: skip
    numbers = st.one_of(st.integers(-(10**18) + 1, 10**18 - 1), st.booleans(), st.none())
    data = draw(
        st.dictionaries(
            text,
            st.recursive(
                st.one_of(text, numbers),
                lambda children: st.one_of(
                    st.lists(children, max_size=3), st.dictionaries(text, children, max_size=3)
                ),
                max_leaves=8,
            ),
            max_size=4,
        )
    )
    style = draw(STYLES)

    def represent(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    class One(Dumper):
        pass

    One.add_representer(str, represent)
    written = yaml.dump(
        data,
        Dumper=One,
        default_flow_style=draw(st.sampled_from([True, False])),
        allow_unicode=draw(st.booleans()),
        width=draw(st.sampled_from([20, 80, 10_000])),
        indent=draw(st.sampled_from([2, 4])),
    )
    return data, written


def readable(text: str) -> bool:
    """What the dumper writes is not always YAML that libyaml reads: tabs before text."""
    return not re.search(r"^[ ]*\t", text, re.MULTILINE)


@given(documents())
def test_what_was_dumped_is_read_back(case: tuple[Any, str]) -> None:
    data, text = case
    assume(readable(text))
    assume(yaml.load(text, Loader=yaml.CSafeLoader) == data)
    assert plain(parsed(text)) == data


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_kind_of_line_end_and_a_byte_order_mark_are_read(newline: str, mark: str) -> None:
    text = mark + newline.join(
        ["id: a", "brief: |", "  one", "", "  two", "needs: [b,", "  c]", ""]
    )
    node = parsed(text)
    assert plain(node) == {"id": "a", "brief": "one\n\ntwo\n", "needs": ["b", "c"]}
    assert [(key.line, key.column) for key, _ in node.entries] == [(1, 1), (2, 1), (6, 1)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("TRUE", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-17", -17),
        ("+5", 5),
        ("017", 17),
        ("999999999999999999", 999999999999999999),
        ("2.5", 2.5),
        ("-.5", -0.5),
        ("5.", 5.0),
        ("1e-5", 1e-5),
        ("3E4", 3e4),
        *(
            (word, word)
            for word in (
                *("on", "off", "yes", "no", "y", "n", "On", "NO", "nUll", "tRUE"),
                *("2020-01-01", "2001-12-14t21:59:43.10-05:00", "12:30", "190:20:30"),
                *("0x1f", "0o17", "0b1", "1_000", ".inf", "-.inf", ".nan", ".", "+", "1e"),
                *("9" * 19, "1" + "0" * 5000, "1e9999", "=", "<<", "1.2.3", "float32[B, 3]"),
            )
        ),
        ("'5'", "5"),
        ('"true"', "true"),
        ("! 5", "5"),
        ("'~'", "~"),
        ("'it''s'", "it's"),
        ('"a\\tb\\u00e9"', "a\tbé"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_a_scalar_stands_for_what_yaml_1_2_says(text: str, value: Any) -> None:
    found = scalar(f"key: {text}").value
    assert found == value
    assert type(found) is type(value)


def test_words_that_yaml_1_1_takes_for_booleans_may_be_keys() -> None:
    assert plain(parsed("on: 1\nno: 2\ny: 3\n'true': 4\n")) == {"on": 1, "no": 2, "y": 3, "true": 4}


def test_a_number_too_large_for_a_number_is_infinite_and_no_error() -> None:
    assert scalar("a: 1e999").value == float("inf")


# --- places --------------------------------------------------------------------------------

EVERYTHING = """\
# a comment
id: one
'quoted key': "text"
list:
  - plain
  - 'single'
  - [flow, {inner: 5}]
é☃\U0001f600: {α: β}
block: |
    first
      second
folded: >
  one
  two
null_value:
last: x
"""


def test_keys_and_values_stand_where_they_are_said_to_stand() -> None:
    node = parsed(EVERYTHING)
    places = {
        str(one.value): (one.line, one.column)
        for one in walk(node)
        if isinstance(one, ScalarNode) and one.value is not None
    }
    keys = {key.value: (key.line, key.column) for key, _ in node.entries}
    assert keys == {
        "id": (2, 1), "quoted key": (3, 2), "list": (4, 1), "é☃\U0001f600": (8, 1),
        "block": (9, 1), "folded": (12, 1), "null_value": (15, 1), "last": (16, 1),
    }  # fmt: skip
    assert places == {
        "one": (2, 5), "text": (3, 16), "plain": (5, 5), "single": (6, 6), "flow": (7, 6),
        "5": (7, 20), "β": (8, 10), "first\n  second\n": (9, 8), "one two\n": (12, 9),
        "x": (16, 7),
    }  # fmt: skip
    inner = next(n for n in walk(node) if isinstance(n, SequenceNode) and n.line == 7)
    assert (inner.line, inner.column) == (7, 5)


@pytest.mark.parametrize(
    ("source", "text", "place"),
    [
        ("k: a WORD", "a WORD", (1, 6)),
        ("k:    'a WORD'", "a WORD", (1, 10)),
        ('k: "a WORD"', "a WORD", (1, 7)),
        ("k: 'it''s ''a'' WORD'", "it's 'a' WORD", (1, 17)),
        (r'k: "a\tb \"c\" \x41\u00e9\U0001F600 WORD"', 'a\tb "c" Aé\U0001f600 WORD', (1, 37)),
        (r'k: "\x20\x09\n\\ WORD"', " \t\n\\ WORD", (1, 18)),
        ("k: a\n   b\n    WORD c", "a b WORD c", (3, 5)),
        ("k: 'a\n\n   b\n  it''s WORD'", "a\nb it's WORD", (4, 9)),
        ('k: "a\n   \\\n   \\ b WORD"', "a  b WORD", (3, 8)),
        ("k: |\n  a\n   WORD", "a\n WORD", (3, 4)),
        ("k: |\n\n\n  a\n\n  b WORD\n", "\n\na\n\nb WORD\n", (6, 5)),
        ("k: |2\n    a\n  WORD\n", "  a\nWORD\n", (3, 3)),
        ("k: |4-\n      a\n    WORD\n", "  a\nWORD", (3, 5)),
        ("k: |+ # comment\n  WORD\n\n", "WORD\n\n", (2, 3)),
        ("k: >\n  a\n  b WORD\n\n  c\n", "a b WORD\nc\n", (3, 5)),
        ("k: >\n  a\n\n\n  b\n   WORD\n", "a\n\nb\n WORD\n", (6, 4)),
        ("k: >-\n\n  a\n    b\n  WORD", "\na\n  b\nWORD", (5, 3)),
        ("k:\n  - |\n    a\n    WORD\n", "a\nWORD\n", (4, 5)),
        ("k: [a, {b: 'x''y WORD'}]", "x'y WORD", (1, 18)),
    ],
)
def test_a_place_within_a_text_is_exact(source: str, text: str, place: tuple[int, int]) -> None:
    (found,) = (n for n in walk(parsed(source)) if isinstance(n, ScalarNode) and n.value == text)
    before = text[: text.index("WORD")]
    row, column = found.position(before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert (row, column) == place
    assert source.splitlines()[row - 1][column - 1 :].startswith("WORD")


@given(documents())
def test_every_visible_character_stands_where_its_place_says(case: tuple[Any, str]) -> None:
    _, source = case
    assume(readable(source))
    lines = source.split("\n")
    for one in walk(parsed(source)):
        if not isinstance(one, ScalarNode) or not isinstance(one.value, str):
            continue
        for number, row in enumerate(one.value.split("\n"), start=1):
            for column, character in enumerate(row, start=1):
                if character in " \t":
                    continue
                line, start = one.position(number, column)
                there = lines[line - 1][start - 1 :]
                assert there.startswith((character, "\\")), (source, one.value, number, column)


def test_the_end_of_a_text_has_a_place_too() -> None:
    assert scalar("k: abc").position(1, 4) == (1, 7)
    assert scalar("k: 'it''s'").position(1, 5) == (1, 10)
    assert scalar("k: |\n  a\n  bc").position(2, 3) == (3, 5)
    assert scalar("k: 'a\n  b'").position(1, 4) == (2, 4)
    assert scalar('k: "\\t"').position(1, 1) == (1, 5)
    assert scalar("k: ''").position(1, 1) == (1, 5)
    assert scalar("k: |\n\n").position(1, 1) == (2, 1)


# --- what is refused, and where ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the file is empty; the top level must be a mapping"),
        ("# only a comment\n", 1, 1, "the file is empty"),
        ("- a\n", 1, 1, "the top level must be a mapping, such as `id: …`"),
        ("just text", 1, 1, "the top level must be a mapping"),
        ("a: 1\n\tb: 2", 2, 1, "tab in the indentation; use spaces"),
        ("a:\n  \tb: 2", 2, 3, "tab in the indentation; use spaces"),
        ("a:\n  - \tb", 2, 5, "tab in the indentation; use spaces"),
        ("a: |\n\ttext", 2, 1, "tab in the indentation; use spaces"),
        ("a: &x 1\nb: *x", 1, 4, "anchors (&name) are not supported; write the value out"),
        ("b: *x", 1, 4, "aliases (*name) are not supported; write the value out"),
        ("a: !!str 5", 1, 4, "tags are not supported: tag:yaml.org,2002:str; remove it"),
        ("a: !mine [1]", 1, 4, "tags are not supported: !mine"),
        ("!!map {a: 1}", 1, 1, "tags are not supported: tag:yaml.org,2002:map"),
        ("a: !" + "x" * 9999 + " 1", 1, 4, "tags are not supported: !xxx"),
        ("a: {<<: *x}", 1, 9, "aliases"),
        ("a: 1\n---\nb: 2", 2, 1, "a second document; keep one"),
        ("5: x", 1, 1, "a key must be a string, got 5; put it in quotes"),
        ("a:\n  true: x", 2, 3, "a key must be a string, got True; put it in quotes"),
        ("~: x", 1, 1, "a key must be a string, got None"),
        ("? [a]\n: b", 1, 3, "a key must be a string, not a list or mapping"),
        ("a: {{b: 1}: c}", 1, 5, "a key must be a string, not a list or mapping"),
        ("a: é\0", 1, 5, "a character that YAML does not allow (U+0000)"),
        ("é: 1\nb: ☃\x07x", 2, 5, "a character that YAML does not allow (U+0007)"),
        ("a: \x1b[31m", 1, 4, "a character that YAML does not allow (U+001B)"),
        ("# \x7f", 1, 3, "a character that YAML does not allow (U+007F)"),
        ("a: 1 # \x9b31m", 1, 8, "a character that YAML does not allow (U+009B)"),
        ("a: 1\n# \u2028\nb: *x", 2, 3, "a character that YAML does not allow (U+2028)"),
        ("a: x\x85y", 1, 5, "a character that YAML does not allow (U+0085)"),
        ("a: 1\n\ufeffb: 2", 2, 1, "a character that YAML does not allow (U+FEFF)"),
        ("a: \uffff", 1, 4, "a character that YAML does not allow (U+FFFF)"),
        ('a: 1\nb: "x\\e[2J"', 2, 4, "a control character (U+001B) in the text"),
        ('a: "\\0"', 1, 4, "a control character (U+0000) in the text"),
        ('a: "\\N"', 1, 4, "a control character (U+0085) in the text"),
        ('a: "\\ud800"', 1, 7, "not valid YAML: while parsing a quoted scalar"),
        ("a: b: c", 1, 5, "not valid YAML: mapping values are not allowed"),
        ("a: 1\n b: 2", 2, 2, "this line is indented deeper than the lines before it"),
        ("a: [1,\nb: 2", 1, 4, "not valid YAML: while parsing a flow sequence"),
        ("a: 'x", 1, 4, "not valid YAML: while scanning a quoted scalar"),
        ("a: @x", 1, 4, "found character that cannot start any token"),
        ("%FOO 1\n---\na: 1", 1, 5, "unknown directive"),
        (b"a: 1\nb: \xff", 2, 4, "not UTF-8: byte 0xff; save the file as UTF-8"),
        ("é: ☃\r\nß: é".encode() + b"\xe9 ", 2, 5, "not UTF-8: byte 0xe9"),
        (b"\xef\xbb\xbfab\xfe", 1, 3, "not UTF-8: byte 0xfe"),
        (b"a: 1\rb\xc3", 2, 2, "not UTF-8: byte 0xc3"),
        (b"a: \xed\xa0\x80", 1, 4, "not UTF-8: byte 0xed"),
        ("a: 1".encode("utf-16"), 1, 1, "not UTF-8: byte 0xff"),
        ("a: é".encode("latin-1"), 1, 4, "not UTF-8: byte 0xe9"),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, str | bytes) else "",
)
def test_what_is_not_read_is_refused_where_it_stands(
    text: str | bytes, line: int, column: int, message: str
) -> None:
    refuses(text, line, column, message)
    assert len(problem(text).message) < 200


def test_a_repeated_key_is_reported_where_it_stands() -> None:
    text = "a: 1\nb:\n  c: 1\n  d: 2\n  'c': 3\na: 2\n" + "x" * 900 + ": 1\n" + "x" * 900 + ": 2"
    node, problems = parse(text.encode(), "f")
    assert [(p.line, p.column) for p in problems] == [(5, 4), (6, 1), (8, 1)]
    assert problems[0].message == "duplicate key 'c'"
    assert len(problems[2].message) < 100
    assert node.get("b") is not None


def test_the_same_key_at_two_places_is_no_repetition() -> None:
    assert plain(parsed("a: {k: 1}\nb: {k: 2}\nc: [{k: 3}, {k: 4}]"))["b"] == {"k": 2}


def test_merge_keys_are_only_text() -> None:
    assert plain(parsed("a:\n  <<: {x: 1}\n")) == {"a": {"<<": {"x": 1}}}


@pytest.mark.parametrize("tag", [
    "!!python/object/apply:os.system", "!!python/object/new:os.system", "!!python/name:os.system",
    "!!python/module:os", "!!python/object:os.system", "!<tag:yaml.org,2002:python/name:os.system>",
])  # fmt: skip
def test_no_tag_executes_anything(tag: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    refuses(f"a: 1\nb: {tag} ['touch {mark}']", 2, 4, "tags are not")
    refuses(f"a: 1\n{tag} ['touch {mark}']: b", 2, 1, "tags are not")
    assert not mark.exists()


def test_billions_of_laughs_take_neither_time_nor_memory() -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 9) + "]" for i in range(1, 30)]
    tracemalloc.start()
    try:
        refuses("\n".join(lines), 1, 5, "anchors")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 1000 + "]" * 1000,
        "a: " + "[" * 500_000,
        "a: " + "{b: " * 200_000,
        "a: " + "[{b: " * 100_000,
        "- " * 20_000,
        "".join(f"{' ' * i}a:\n" for i in range(1000)),
    ],
    ids=["1000 lists", "open lists", "open mappings", "both", "dashes", "indented"],
)
def test_nesting_is_refused_where_it_becomes_too_deep(text: str) -> None:
    assert problem(text).message == f"nested more than {MAX_DEPTH} deep"


def test_nesting_is_read_to_the_cap() -> None:
    inside = MAX_DEPTH - 1
    assert plain(parsed("a: " + "[" * inside + "]" * inside))
    with pytest.raises(BadSource):
        parse(b"a: " + b"[" * (inside + 1) + b"]" * (inside + 1), "f")


# --- it never takes long -------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"a{i}:\n" for i in range(128_000)),
        "a:\n" + "- |\n" * 250_000,
        "a:\n" + "- |\n\n" * 200_000,
        "a:\n" + "- >\n  x\n" * 100_000,
        "a: [" + "x," * 500_000 + "]",
        "a: [" + "'''x'," * 150_000 + "]",
        "a: 'x" + "\n" * 1_000_000 + "'",
        "a: " + "'" * 1_000_001,
        "a: " + ":" * 1_000_000,
        "? " * 500_000,
        "a: " + "x " * 500_000,
        "#" * 1_000_000,
        " " * 1_000_000,
        "\n" * 1_000_000,
        "&" * 1_000_000,
        "a: " + "!" * 1_000_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_file_of_the_largest_size_is_read_or_refused_in_seconds(text: str) -> None:
    assert len(text) <= MAX_BYTES
    began = time.process_time()
    try:
        node, _ = parse(text.encode(), "f")
        assert node.entries
    except BadSource as error:
        assert error.problem.message  # noqa: PT017 - either will do, if only it comes soon
    assert time.process_time() - began < 20


def test_a_file_over_the_size_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    with path.open("wb") as file:
        file.truncate(10 << 30)  # sparse; nothing could read it quickly
    began = time.process_time()
    with pytest.raises(BadSource) as caught:
        read(path, "big.yaml")
    assert time.process_time() - began < 1
    assert str(caught.value) == (
        "big.yaml:1:1: the file must be at most 1,048,576 bytes, got 10,737,418,240; split it, "
        "or remove data from it"
    )
    refuses(b"a: " + b"x" * (10 << 20), 1, 1, "at most 1,048,576 bytes")


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, why in (
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path, "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "missing", "cannot be read: No such file or directory"),
        (tmp_path / ("x" * 999), "cannot be read: File name too long"),
    ):
        with pytest.raises(BadSource, match=why):
            read(path, "f")


def test_a_file_is_read_from_disk(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    node, problems = read(tmp_path / "f.yaml", "shown")
    assert plain(node) == {"a": 1, "b": 2}
    assert problems == []


# --- anything at all -----------------------------------------------------------------------

YAMLISH = st.lists(
    st.sampled_from(
        [
            *"abc:-?[]{},#&*!|>'\"%@` \n\t~\\0.",
            *(
                "\n  ",
                "\n    ",
                ": ",
                "- ",
                "? ",
                "|\n  ",
                ">-\n  ",
                "|2\n",
                "---\n",
                "...\n",
                "<<: ",
            ),
            *("&a ", "*a", "!!str ", "! ", "null", "true", "1e5", "'it''s'", '"\\n"', '"\\ud800"'),
            *(
                "\r\n",
                "\r",
                "\ufeff",
                "\u2028",
                "\x85",
                "\0",
                "é",
                "\U0001f600",
                "%YAML 1.1\n---\n",
            ),
        ]
    ),
    max_size=25,
).map("".join)


def read_or_refused(data: bytes) -> Node | None:
    try:
        node, _ = parse(data, "f")
    except BadSource as error:
        found = error.problem
        assert found.line >= 1 and found.column >= 1 and found.message
        return None
    return node


@given(st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=50), YAMLISH))
@example("---")
@example("a: |\n")
@example("a: >2\n\n")
@example("a: ''\n...\n")
@example("'a'")
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    node = read_or_refused(text.encode())
    if node is None:
        return
    lines = text.count("\n") + text.count("\r") + 2  # what is left out may follow the last
    for one in walk(node):
        assert 1 <= one.line <= lines and one.column >= 1
        if isinstance(one, ScalarNode):
            assert type(one.value) in (str, int, float, bool, type(None))
            row, column = one.position(1, 1)
            assert row >= one.line and column >= 1


@given(st.binary(max_size=60))
@example(b"\xff\xfea\x00")
@example(b"a: \xc3\xa9\xc3")
def test_any_bytes_are_read_or_refused_and_nothing_else(data: bytes) -> None:
    node = read_or_refused(data)
    assert node is None or isinstance(node, MappingNode)
