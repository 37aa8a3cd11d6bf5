"""Parsing untrusted YAML into nodes with positions.

Supports what lessons need: mappings with string keys, sequences, and scalars of YAML 1.2's core
types (so `on`, `no` and `12:30` are strings). Tags, anchors, aliases, merge keys and further
documents are errors. Only str, int, float, bool and None are constructed, and nothing here recurses
on the input.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import yaml
from msgspec import Struct

from tutor.pack import indentation, scalar_offsets
from tutor.pack.folder import MAX_BYTES, read_bytes, too_large
from tutor.pack.problems import BadSource, Problem

MAX_DEPTH = 40

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ScalarNode(Struct, frozen=True):
    """A string, or the value of an unquoted scalar. `block`: written with `|` or `>`.

    `written` is the source if it differs from the value, `style` its quote character, `indent` the
    indentation of a `|` block.
    """

    value: str | int | float | bool | None
    line: int
    column: int
    block: bool = False
    indent: int = 0
    written: str = ""
    style: str | None = None

    def position(self, line: int, column: int) -> tuple[int, int]:
        """Return the position in the file of a line and column (from 1) of this text."""
        if self.written:
            offset = scalar_offsets.offset(self.written, self.style, str(self.value), line, column)
            row = self.written.count("\n", 0, offset)
            first = self.column if row == 0 and not self.block else 1
            line_start = self.written.rfind("\n", 0, offset) + 1
            return self.line + row + self.block, first + offset - line_start
        if self.block:
            return self.line + line, self.indent + column
        return self.line + line - 1, (self.column - 1 if line == 1 else 0) + column


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
    _refuse_tabs(text, shown_as)
    builder = _Builder(text, shown_as)
    try:
        for event in yaml.parse(text, Loader=LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise BadSource(_not_yaml(error, shown_as, builder)) from None
    root = builder.root
    if root is None:
        raise _bad(shown_as, 1, 1, f"the file is empty; {_MUST}", _BEGIN)
    if not isinstance(root, MappingNode):
        raise _bad(shown_as, root.line, root.column, _MUST, _BEGIN)
    return root, builder.problems


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
        raise _bad(shown_as, *_end_of(before), what, "save the file as UTF-8") from None
    if wrong := _NOT_ALLOWED.search(text):
        what = f"a character that {refusal} (U+{ord(wrong[0]):04X})"
        raise _bad(shown_as, *_end_of(text[: wrong.start()]), what, "delete it")
    return text


def _bad(file: str, line: int, column: int, message: str, remedy: str) -> BadSource:
    return BadSource(Problem(file, line, column, message, remedy))


_MUST = "the top level must be a mapping, such as `id: …`"
_BEGIN = "begin every line of the top level with a key and a colon"


_NOT_ALLOWED = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""YAML's control characters; byte order marks after the beginning; and U+0085, U+2028 and U+2029,
which YAML 1.1 treats as line breaks, but editors do not."""

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

_NO_TAB = "tab in the indentation", "use spaces"


def _one_kind_of_line(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _end_of(text: str) -> tuple[int, int]:
    """Return the line and column (from 1) just after `text`."""
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def _not_yaml(error: yaml.MarkedYAMLError, file: str, builder: "_Builder") -> Problem:
    """Return libyaml's error as a problem, with its likely cause as the remedy."""
    context, problem = error.context or "", error.problem or ""
    mark, opening = error.problem_mark or error.context_mark, error.context_mark
    if mark is not None and builder.character(mark.line + 1, mark.column + 1) == "\t":
        return Problem(file, mark.line + 1, mark.column + 1, *_NO_TAB)
    if opening is not None and any(word in context for word in _OPENED):
        below = mark is None or mark.line != opening.line or "end of stream" in problem
        mark = opening if below else mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    misplaced = builder.interrupted(line) or _misplaced(problem, line, column, builder)
    if misplaced is not None:
        wrong, what, how = misplaced
        return Problem(file, wrong, builder.first(wrong), what, how)
    said = ", ".join(part for part in (context, problem) if part)
    remedy = next((remedy for part, remedy in _CAUSES if part in said), _ANY_CAUSE)
    if "could not find expected ':'" in problem and builder.first(line - 1) > column:
        remedy += "; or indent the line, if it belongs to those above"
    if "did not find expected" in problem and "block" in context:
        if (begun := builder.quoted_since(line)) is not None:
            said = f"the string that begins at this quote ends on line {line}"
            return Problem(file, *begun, f"not valid YAML: {said}", _CLOSE_QUOTE)
        if builder.before(line, column).strip():
            remedy = "put the whole value in quotes, or remove the text after it"
        else:
            remedy = _DASHES if builder.character(line, column) == "-" else _KEYS
    return Problem(file, line, column, f"not valid YAML: {said}", remedy)


def _misplaced(
    problem: str, line: int, column: int, builder: "_Builder"
) -> tuple[int, str, str] | None:
    """Return the line whose indentation is the likely cause of an error, what is wrong with it, and
    a remedy; None if the cause is another."""
    before = builder.before(line, column).strip()
    if "mapping values are not allowed" in problem and indentation.KEY.fullmatch(before):
        if before.startswith("- "):
            return builder.merged(line)
        if above := builder.unfinished(line):
            what = f"this line has no colon, so line {line} continues it"
            return above, what, "write `name: value`, with a space after the colon"
        continues = "; if it continues the text above, put all of that in quotes"
    elif "not find expected" in problem and not before and not builder.quoted_since(line):
        continues = ""
    else:
        return None
    found = builder.misplaced(line)
    return (line, found[0], found[1] + continues) if found is not None else None


_OPENED = ("quoted", "flow", "simple key")
"""Contexts of errors noticed far below their cause: an unclosed quote, a missing colon."""

_CLOSE_QUOTE = "close the quote; write a quote inside as '' or \\\""
_DASHES = "align every `-` of the list"
_KEYS = "align all keys of the mapping, and indent all lines of a text"

_CAUSES = (
    ("mapping values are not allowed", "quote text that contains a colon, or use a `|` block"),
    ("unknown escape", "in \"…\" a backslash starts an escape; double it, or use '…'"),
    ("quoted scalar", _CLOSE_QUOTE),
    ("flow sequence", "close the bracket: [one, two]; quote items that contain a comma or bracket"),
    ("flow mapping", "close the brace: {a: 1, b: 2}; quote values that contain a comma or brace"),
    ("could not find expected ':'", "write `name: value`, with a space after the colon"),
    ("cannot start any token", "quote text that begins with this character"),
    ("block sequence entries are not allowed", "begin the list on a new line below its key"),
    ("alias", "quote text that begins with *, or use a `|` block"),
    ("anchor", "quote text that begins with &, or use a `|` block"),
    ("block scalar", "end the line after `|`, and indent the text below it"),
    ("tag", "quote text that begins with !"),
    ("directive", "quote text that begins with %"),
)
"""Parts of libyaml's messages, and remedies; the first match applies."""

_ANY_CAUSE = "check the quotes, brackets and indentation of this line and the one above"


def _refuse_tabs(text: str, shown_as: str) -> None:
    """A tab as indentation is YAML's most puzzling error, so it is found first. Inside a block
    of text it is allowed once the block's own indentation has been given in spaces."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("\t"):
            raise _bad(shown_as, number, 1, *_NO_TAB)


class _Cut(NamedTuple):
    """A piece of `{…}` or `[…]` in which brackets are `missing`. `part`: what the piece is."""

    line: int
    column: int
    part: str
    missing: int


class _Builder:
    """Builds nodes from YAML events, with an explicit stack."""

    def __init__(self, text: str, shown_as: str) -> None:
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self._lines = text.split("\n")
        self._file = shown_as
        self._open: list[MappingNode | SequenceNode] = []
        self._keys: list[ScalarNode | None] = []
        self._seen: list[set[str]] = []
        self._documents = 0
        self._quoted = (0, 0), 0
        self._flow: list[bool] = []
        self._latest: list[int] = []
        self._ended: list[indentation.Level] = []
        self._block: indentation.Text | None = None
        self._text: indentation.Text | None = None
        self._cut: list[_Cut | None] = []

    def character(self, line: int, column: int) -> str:
        """Return the character at a position, or an empty string."""
        return self.row(line)[column - 1 : column]

    def before(self, line: int, column: int) -> str:
        """Return the text to the left of a position."""
        return self.row(line)[: column - 1]

    def quoted_since(self, line: int) -> tuple[int, int] | None:
        """Return where a quoted string that ends on this line began, if on another line."""
        start, end = self._quoted
        return start if end == line and start[0] < line else None

    def first(self, line: int) -> int:
        """Return the column (from 1) of the first character of a line that is not blank."""
        row = self.row(line)
        return len(row) - len(row.lstrip()) + 1

    def row(self, line: int) -> str:
        return self._lines[line - 1] if line <= len(self._lines) else ""

    def interrupted(self, line: int) -> tuple[int, str, str] | None:
        """Return the line above that ends the last block of text although it belongs to it, what is
        wrong with it, and a remedy; None if none does."""
        if self._text is None:
            return None
        found = indentation.interrupted(self._lines, self._text)
        return found if found is not None and found[0] <= line else None

    def unfinished(self, line: int) -> int:
        """Return the line above that a missing colon lets go on; 0 if that is not what is wrong."""
        return 0 if any(self._flow) else indentation.unfinished(self._lines, line)

    def merged(self, line: int) -> tuple[int, str, str]:
        """Return the wrong line, what is wrong with it, and a remedy, where a line that begins with
        a dash continues the text above."""
        return indentation.merged(self._lines, line)

    def misplaced(self, line: int) -> tuple[str, str] | None:
        """Return what is wrong with the indentation of a line below all nodes so far, and a
        remedy; None if nothing is."""
        if any(self._flow) or not self.row(line).strip():
            return None
        levels = [
            indentation.Level(node.column - 1, latest, isinstance(node, SequenceNode))
            for node, latest in zip(self._open, self._latest, strict=True)
        ]
        return indentation.fault(self._lines, line, [*levels, *self._ended], self._block)

    def take(self, event: yaml.Event) -> None:
        mark = event.start_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._refuse(line, column, "a second document", "keep one document per file")
        elif isinstance(event, yaml.AliasEvent):
            remedy = "write the value out; quote text that begins with *, or use a `|` block"
            self._refuse(line, column, "aliases (*name) are not supported", remedy)
        elif isinstance(event, yaml.NodeEvent):
            self._node(event, line, column)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            node, latest = self._open.pop(), self._latest.pop()
            if not self._flow.pop():
                dashes = isinstance(node, SequenceNode)
                self._ended.append(indentation.Level(node.column - 1, latest, dashes))
            self._keys.pop()
            self._seen.pop()
            self._cut.pop()

    def _node(self, event: yaml.NodeEvent, line: int, column: int) -> None:
        if event.anchor is not None:
            remedy = "write the value out where it is used; quote text that begins with &"
            self._refuse(line, column, "anchors (&name) are not supported", remedy)
        tag = getattr(event, "tag", None)
        if tag is not None and tag != "!":
            remedy = "remove it; quote text that begins with !"
            self._refuse(line, column, f"tags are not supported: {tag[:80]}", remedy)
        self._ended.clear()
        self._block = None
        if self._latest and self._keys[-1] is None:  # not the value of a key
            self._latest[-1] = line
        if isinstance(event, yaml.ScalarEvent):
            self._refuse_cut(event, line, column)
            self._add(self._scalar(event, line, column))
            return
        node = (
            MappingNode([], line, column)
            if isinstance(event, yaml.MappingStartEvent)
            else SequenceNode([], line, column)
        )
        self._add(node)
        self._open.append(node)
        self._keys.append(None)
        self._seen.append(set())
        self._flow.append(isinstance(event, yaml.CollectionStartEvent) and bool(event.flow_style))
        self._latest.append(line)
        self._cut.append(None)
        if len(self._open) > MAX_DEPTH:
            self._refuse(line, column, f"nested more than {MAX_DEPTH} deep", "flatten it")

    def _refuse_cut(self, event: yaml.ScalarEvent, line: int, column: int) -> None:
        """Refuse a call that a comma of `{…}` or `[…]` has cut in pieces: one with an open bracket,
        and a later one that closes it."""
        if not self._flow or not self._flow[-1] or event.style:
            return
        cut = self._cut[-1]
        missing = event.value.count("(") - event.value.count(")")
        if cut is None:
            mapping = isinstance(self._open[-1], MappingNode)
            part = "item" if not mapping else "key" if self._keys[-1] is None else "value"
            self._cut[-1] = _Cut(line, column, part, missing) if missing > 0 else None
            return
        if cut.missing + missing > 0:
            self._cut[-1] = cut._replace(missing=cut.missing + missing)
            return
        end = event.end_mark.column if event.end_mark is not None else 0
        whole = self.row(line)[cut.column - 1 : end] if line == cut.line else event.value
        brackets = "[…]" if cut.part == "item" else "{…}"
        within = (node.entries[-1:] for node in self._open if isinstance(node, MappingNode))
        inputs = any(key.value == "inputs" for entries in within for key, _ in entries)
        one = "item" if cut.part == "item" else "input" if inputs else "entry"
        what = f"a comma inside {brackets} ends the {cut.part}, so `{whole[:60]}` is split"
        remedy = f"put it in quotes, or write one {one} per line"
        self._refuse(cut.line, cut.column, what, remedy)

    def _add(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if isinstance(parent, SequenceNode):
            parent.items.append(node)
        elif self._keys[-1] is None:
            self._keys[-1] = self._key(node)
        else:
            parent.entries.append((self._keys[-1], node))
            self._keys[-1] = None

    def _key(self, node: Node) -> ScalarNode:
        if not isinstance(node, ScalarNode):
            remedy = "quote text that begins with a bracket or brace"
            what = "a key must be a string, not a list or mapping"
            raise _bad(self._file, node.line, node.column, what, remedy)
        if not isinstance(node.value, str):
            what = f"a key must be a string, got {node.value!r}"
            raise _bad(self._file, node.line, node.column, what, "put it in quotes")
        if node.value in self._seen[-1]:
            what = f"duplicate key {node.value[:60]!r}"
            remedy = "keep one of the two"
            self.problems.append(Problem(self._file, node.line, node.column, what, remedy))
        self._seen[-1].add(node.value)
        return node

    def _scalar(self, event: yaml.ScalarEvent, line: int, column: int) -> ScalarNode:
        text: str = event.value
        end = event.end_mark.line + 1 if event.end_mark is not None else line
        if event.style in ("|", ">"):
            self._block = self._text = indentation.Text(line, end)
        if event.style == "|":
            return ScalarNode(text, line, column, True, self._indent(text, line))
        if event.style == ">":
            return ScalarNode(text, line, column, True, written="\n".join(self._lines[line:end]))
        if event.style == '"' and (wrong := CONTROL.search(text)):
            what = f"a control character (U+{ord(wrong[0]):04X}) in the text"
            self._refuse(line, column, what, "remove it")
        if event.style in ("'", '"') and event.end_mark is not None:
            self._quoted = (line, column), event.end_mark.line + 1
        written = self._written(event)
        in_list = bool(self._open) and isinstance(self._open[-1], SequenceNode)
        if in_list and not event.style and "\n" in written:
            self._refuse_dashes(written, line)
        if written == text:
            written = ""
        if event.style in ("'", '"'):
            return ScalarNode(text, line, column + 1, written=written, style=event.style)
        if event.tag == "!":  # `! 5` is a string
            return ScalarNode(text, line, column)
        return ScalarNode(resolve(text), line, column, written=written)

    def _written(self, event: yaml.ScalarEvent) -> str:
        """Return the source of a quoted or plain scalar, without its quotes."""
        start, end = event.start_mark, event.end_mark
        if start is None or end is None or start.line == len(self._lines):
            return ""
        quote = 1 if event.style else 0
        if start.line == end.line:
            return self._lines[start.line][start.column + quote : end.column - quote]
        first, *others = self._lines[start.line : end.line + 1]
        others[-1] = others[-1][: end.column - quote]
        return "\n".join([first[start.column + quote :], *others])

    def _indent(self, text: str, line: int) -> int:
        """Return the indentation of a `|` block that starts below `line`."""
        for number, row in enumerate(text.split("\n")):
            if row.strip():
                return len(self._lines[line + number]) - len(row)
        return 0

    def _refuse_dashes(self, written: str, line: int) -> None:
        """Refuse an item whose next line begins with a dash: another item, indented too far."""
        for number, row in enumerate(written.split("\n")[1:], start=line + 1):
            if row.lstrip().startswith("- "):
                wrong, what, remedy = self.merged(number)
                self._refuse(wrong, self.first(wrong), what, remedy)

    def _refuse(self, line: int, column: int, what: str, remedy: str) -> None:
        raise _bad(self._file, line, column, what, remedy)


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
