"""Texts that lessons share: a line `{{name}}` in a lesson's Markdown stands for `texts/name.md`.

Lines in fenced code blocks stay as they are. A text cannot contain another one.
"""

import re
from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from tutor.lesson import ID, MAX_TEXT
from tutor.pack.folder import Folder
from tutor.pack.problems import BadSource
from tutor.pack.yaml_nodes import decode

FOLDER = "texts"

_REFERENCE = re.compile(r"([ \t]*)\{\{[ \t]*([^{}]*?)[ \t]*\}\}[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_ID = re.compile(ID)


class Reference(NamedTuple):
    """A line that stands for a text; `line` and `column` of the name count from 1."""

    name: str
    line: int
    column: int
    indent: str


def file_of_text(name: str) -> str:
    """Return the path of a text, relative to the pack."""
    return f"{FOLDER}/{name}.md"


def text_names(root: Path) -> list[str]:
    """Return the names of the texts in a pack's directory."""
    paths = (root / FOLDER).glob("*.md")
    return sorted(path.stem for path in paths if _ID.match(path.stem) and path.is_file())


def in_code(text: str) -> Iterator[bool]:
    """Yield for each line of Markdown whether it belongs to a fenced code block."""
    fence = ""
    for row in text.split("\n"):
        found = _FENCE.fullmatch(row)
        yield bool(fence) or _opens(found)
        if not fence and _opens(found):
            assert found is not None
            fence = found[1]
        elif fence and found is not None and found[1].startswith(fence) and not found[2].strip():
            fence = ""


def _opens(found: re.Match[str] | None) -> bool:
    # `code` in a line of prose may have three backticks, too.
    return found is not None and not (found[1][0] == "`" and "`" in found[2])


def references(text: str) -> Iterator[Reference]:
    """Yield the lines that stand for a text."""
    if "{{" not in text:
        return
    rows = enumerate(text.split("\n"), 1)
    for line, row in compress(rows, (not code for code in in_code(text))):
        if (found := _REFERENCE.fullmatch(row)) is not None:
            yield Reference(found[2], line, found.start(2) + 1, found[1])


class SharedTexts:
    """The texts of a pack, each read on first use. `used` holds the names that were asked for."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._read: dict[str, str] = {}
        self.used: set[str] = set()

    @property
    def names(self) -> list[str]:
        return text_names(self._folder.root)

    def get(self, name: str) -> str | None:
        """Return a text without line breaks at its end; None if there is none of this name.

        Raises:
            BadSource: it cannot be read, or contains another text.
        """
        if not _ID.match(name) or self._folder.stamp(file := file_of_text(name)) is None:
            return None
        self.used.add(name)
        if name not in self._read:
            self._read[name] = self._checked(file)
        return self._read[name]

    def _checked(self, file: str) -> str:
        text = decode(self._folder.read(file), self._folder.shown(file), "a text may not contain")
        text = text.rstrip("\n")
        if not 1 <= len(text) <= MAX_TEXT:
            message = f"a text must have 1 to {MAX_TEXT} characters, got {len(text)}"
            raise BadSource(self._folder.problem(file, message, remedy="write it, or split it"))
        for one in references(text):
            message = f"a text cannot contain another one, {one.name!r}"
            remedy = f"name both in the lesson, or write the text of {one.name} here"
            raise BadSource(self._folder.problem(file, message, one.line, one.column, remedy))
        return text
