"""Parsing untrusted YAML into nodes with positions.

Supports what lessons need: mappings with string keys, sequences, and scalars of YAML 1.2's core
types (so `on`, `no` and `12:30` are strings). Tags, anchors, aliases, merge keys and further
documents are errors. Only str, int, float, bool and None are constructed, and nesting is limited.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, TypeAlias

import yaml
from msgspec import Struct

from tutor.pack import scalar_offsets, yaml_errors
from tutor.pack.folder import MAX_BYTES, read_bytes, too_large
from tutor.pack.problems import BadSource, Problem

MAX_DEPTH = 40

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ScalarNode(Struct, frozen=True):
    """A string, or the value of an unquoted scalar.

    `written` is the source, without quotes or the header of a block; `style` is the quote
    character, or `|` or `>`.
    """

    value: str | int | float | bool | None
    line: int
    column: int
    written: str
    style: str | None = None

    @property
    def block(self) -> bool:
        """Whether it is written with `|` or `>`."""
        return self.style in ("|", ">")

    def position(self, line: int, column: int) -> tuple[int, int]:
        """Return the position in the file of a line and column (from 1) of this text."""
        text = str(self.value)
        if self.style == "|":
            pairs = zip(self.written.split("\n"), text.split("\n"), strict=False)
            indent = next((len(row) - len(shown) for row, shown in pairs if shown.strip()), 0)
            return self.line + line, indent + column
        offset = scalar_offsets.offset(self.written, self.style, text, line, column)
        row = self.written.count("\n", 0, offset) + self.block
        column = offset - self.written.rfind("\n", 0, offset)
        return self.line + row, column if row else self.column + column - 1


class SequenceNode(Struct, frozen=True):
    items: "list[Node]"
    line: int
    column: int


class MappingNode(Struct, frozen=True):
    """Entries in order; keys are unique strings."""

    entries: "list[tuple[ScalarNode, Node]]"
    line: int
    column: int

    def get(self, key: str) -> "Node | None":
        return next((value for name, value in self.entries if name.value == key), None)


Node: TypeAlias = ScalarNode | SequenceNode | MappingNode


def read(path: Path, shown_as: str) -> tuple[MappingNode, list[Problem]]:
    """Read a YAML file whose top level is a mapping.

    **Arguments:** `shown_as`: the file's name in messages.

    **Returns:** the mapping, and problems that do not prevent parsing (duplicate keys).

    Raises:
        BadSource: it cannot be read or parsed.
    """
    return parse(read_bytes(path, shown_as), shown_as)


def parse(data: bytes, shown_as: str) -> tuple[MappingNode, list[Problem]]:
    """Parse the contents of a YAML file; see `read`."""
    if len(data) > MAX_BYTES:
        raise too_large(shown_as, len(data))
    text = decode(data, shown_as, "YAML does not allow")
    if tab := re.search(r"^\t", text, re.MULTILINE):
        # A tab as indentation is YAML's most puzzling error, so it is found first. Inside a block
        # of text it is allowed once the block's own indentation has been given in spaces.
        raise BadSource(Problem(shown_as, *_end_of(text[: tab.start()]), *yaml_errors.NO_TAB))
    composer = _Composer(text, shown_as)
    try:
        root = composer.root()
    except yaml.MarkedYAMLError as error:
        events = yaml.parse(text, Loader=LOADER)
        raise BadSource(Problem(shown_as, *yaml_errors.explained(error, text, events))) from None
    if not isinstance(root, MappingNode):
        line, column = (root.line, root.column) if root is not None else (1, 1)
        empty = "the file is empty; " if root is None else ""
        what = f"{empty}the top level must be a mapping, such as `id: …`"
        remedy = "begin every line of the top level with a key and a colon"
        raise BadSource(Problem(shown_as, line, column, what, remedy))
    return root, composer.problems


def decode(data: bytes, shown_as: str, refusal: str) -> str:
    """Return the text of a file, with `\\n` between its lines.

    **Arguments:** `shown_as`: the file's name in messages; `refusal`: what follows "a character
    that".

    Raises:
        BadSource: it is not UTF-8, or has characters that YAML does not allow.
    """
    try:
        text = _one_kind_of_line(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        before = _one_kind_of_line(error.object[: error.start].decode())
        what = f"not UTF-8: byte {error.object[error.start]:#04x}"
        remedy = "save the file as UTF-8"
    else:
        if (wrong := _NOT_ALLOWED.search(text)) is None:
            return text
        before = text[: wrong.start()]
        what, remedy = f"a character that {refusal} (U+{ord(wrong[0]):04X})", "delete it"
    raise BadSource(Problem(shown_as, *_end_of(before), what, remedy))


_NOT_ALLOWED = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""YAML's control characters; byte order marks after the beginning; and U+0085, U+2028 and U+2029,
which YAML 1.1 treats as line breaks, but editors do not."""

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def _one_kind_of_line(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _end_of(text: str) -> tuple[int, int]:
    """Return the line and column (from 1) just after `text`."""
    return text.count("\n") + 1, len(text) - text.rfind("\n")


class _Composer:
    """Builds nodes from libyaml's events."""

    def __init__(self, text: str, shown_as: str) -> None:
        self.problems: list[Problem] = []
        self._lines = text.split("\n")
        self._file = shown_as
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=LOADER)

    def root(self) -> Node | None:
        """Return the node of the only document, or None if the file is empty."""
        next(self._events)  # the start of the stream
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        root = self._node(next(self._events), 1, False)
        next(self._events)  # the end of the document
        if not isinstance(event := next(self._events), yaml.StreamEndEvent):
            self._refuse(*_start(event), "a second document", "keep one document per file")
        return root

    def _node(self, event: yaml.Event, depth: int, inputs: bool) -> Node:
        """Return the node that begins with an event. `inputs`: whether it is below such a key."""
        self._refuse_properties(event)
        line, column = _start(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, line, column)
        assert isinstance(event, yaml.CollectionStartEvent)
        if depth > MAX_DEPTH:
            self._refuse(line, column, f"nested more than {MAX_DEPTH} deep", "flatten it")
        if isinstance(event, yaml.SequenceStartEvent):
            items = list(self._items(depth + 1, inputs))
            if event.flow_style:
                self._refuse_cut([("item", item) for item in items], "item")
            return SequenceNode(items, line, column)
        entries = list(self._entries(depth + 1, inputs))
        if event.flow_style:
            parts = [
                part for entry in entries for part in zip(("key", "value"), entry, strict=True)
            ]
            self._refuse_cut(parts, "input" if inputs else "entry")
        return MappingNode(entries, line, column)

    def _refuse_properties(self, event: yaml.Event) -> None:
        what = ""
        if isinstance(event, yaml.AliasEvent):
            what = "aliases (*name) are not supported"
            remedy = "write the value out; quote text that begins with *, or use a `|` block"
        elif isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            what = "anchors (&name) are not supported"
            remedy = "write the value out where it is used; quote text that begins with &"
        elif (tag := getattr(event, "tag", None)) not in (None, "!"):
            what = f"tags are not supported: {tag[:80]}"
            remedy = "remove it; quote text that begins with !"
        if what:
            self._refuse(*_start(event), what, remedy)

    def _items(self, depth: int, inputs: bool) -> Iterator[Node]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            item = self._node(event, depth, inputs)
            if isinstance(item, ScalarNode) and item.style is None and "\n" in item.written:
                self._refuse_dashes(item)
            yield item

    def _entries(self, depth: int, inputs: bool) -> Iterator[tuple[ScalarNode, Node]]:
        keys: set[str] = set()
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            self._refuse_properties(event)
            if isinstance(event, yaml.CollectionStartEvent):
                remedy = "quote text that begins with a bracket or brace"
                what = "a key must be a string, not a list or mapping"
                self._refuse(*_start(event), what, remedy)
            key = self._node(event, depth, inputs)
            assert isinstance(key, ScalarNode)
            if not isinstance(key.value, str):
                what = f"a key must be a string, got {key.value!r}"
                self._refuse(key.line, key.column, what, "put it in quotes")
            if key.value in keys:
                what, remedy = f"duplicate key {key.value[:60]!r}", "keep one of the two"
                self.problems.append(Problem(self._file, key.line, key.column, what, remedy))
            keys.add(key.value)
            yield key, self._node(next(self._events), depth, inputs or key.value == "inputs")

    def _scalar(self, event: yaml.ScalarEvent, line: int, column: int) -> ScalarNode:
        text: str = event.value
        written = self._written(event)
        if event.style == '"' and (wrong := CONTROL.search(text)):
            what = f"a control character (U+{ord(wrong[0]):04X}) in the text"
            self._refuse(line, column, what, "remove it")
        if event.style in ("'", '"'):
            column += 1
        value = text if event.style or event.tag else resolve(text)  # `! 5` is a string
        return ScalarNode(value, line, column, written, event.style or None)

    def _written(self, event: yaml.ScalarEvent) -> str:
        """Return the source of a scalar, without its quotes or the header of a block."""
        start, end = event.start_mark, event.end_mark
        assert start is not None and end is not None
        rows = self._lines[start.line : end.line + 1]
        if not rows:
            return ""
        if event.style in ("|", ">"):
            return "\n".join(rows[1:])
        quote = 1 if event.style else 0
        rows[-1] = rows[-1][: end.column - quote]
        rows[0] = rows[0][start.column + quote :]
        return "\n".join(rows)

    def _refuse_cut(self, parts: list[tuple[str, Node]], one: str) -> None:
        """Refuse a call that a comma of `{…}` or `[…]` has cut in pieces: one with an open bracket,
        and a later one that closes it."""
        cut: tuple[str, ScalarNode] | None = None
        missing = 0
        for part, node in parts:
            if not isinstance(node, ScalarNode) or node.style:
                continue
            missing = max(0, missing) + node.written.count("(") - node.written.count(")")
            if cut is None:
                cut = (part, node) if missing > 0 else None
            elif missing <= 0:
                cut_part, first = cut
                row, end = self._lines[first.line - 1], node.column + len(node.written)
                whole = row[first.column - 1 : end - 1] if node.line == first.line else node.written
                brackets = "[…]" if cut_part == "item" else "{…}"
                what = f"a comma inside {brackets} ends the {cut_part}, so `{whole[:60]}` is split"
                remedy = f"put it in quotes, or write one {one} per line"
                self._refuse(first.line, first.column, what, remedy)

    def _refuse_dashes(self, item: ScalarNode) -> None:
        """Refuse an item whose next line begins with a dash: another item, indented too far."""
        for number, row in enumerate(item.written.split("\n")[1:], start=item.line + 1):
            if row.lstrip().startswith("- "):
                self._refuse(*yaml_errors.merged(self._lines, number))

    def _refuse(self, line: int, column: int, what: str, remedy: str) -> NoReturn:
        raise BadSource(Problem(self._file, line, column, what, remedy))


def _start(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]{1,3})?|[-+]?[0-9]+[eE][-+]?[0-9]{1,3}"
)
_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


def resolve(text: str) -> str | int | float | bool | None:
    """Return the value of an unquoted scalar by YAML 1.2's core schema (without octal and hex)."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all its descendants."""
    pending: list[Node] = [node]
    while pending:
        current = pending.pop()
        yield current
        if isinstance(current, SequenceNode):
            pending.extend(current.items)
        elif isinstance(current, MappingNode):
            pending.extend(value for _, value in current.entries)


def scalars_in(node: Node) -> Iterator[ScalarNode]:
    """Yield the scalars of a node."""
    return (part for part in walk(node) if isinstance(part, ScalarNode))
