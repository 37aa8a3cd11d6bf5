"""Code to read: the PyTorch of a lesson, which follows the function at the learner's cursor."""

import re
from collections.abc import Sequence

from textual.widgets import TextArea

from tutor.ui.themes import colour_code

LEAST = 3
"""Lines of the first function that are in sight when a lesson is opened."""

_DEFINITION = re.compile(r"( *)(?:async )?(def|class) (\w+)")


class CodeView(TextArea):
    """Python that can be read, selected and copied. Long lines are wrapped, so that nothing is out
    of reach."""

    def __init__(self, text: str, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(
            text,
            language="python",
            soft_wrap=True,
            read_only=True,
            show_cursor=False,
            id=id,
        )
        self.border_title = "PyTorch"
        self._functions = functions(text.splitlines())
        self._shown = ""

    def on_mount(self) -> None:
        colour_code(self)

    def on_resize(self) -> None:
        """Show the function again, now that lines are wrapped otherwise. At first, show the first
        one if imports fill the pane."""
        if self._shown:
            self._show_function(self._shown)
        elif self._functions and min(self._functions.values()) > self.size.height - LEAST:
            self._show_function(next(iter(self._functions)))

    def follow(self, lines: Sequence[str], row: int) -> None:
        """Show the function or class that has the name of the one around `row` in other code, if
        there is one; the innermost first."""
        names = [name for name in enclosing(lines, row) if name in self._functions]
        name = names[0] if names else ""
        if not name or name == self._shown:
            return
        self._shown = name
        self._show_function(name)

    def _show_function(self, name: str) -> None:
        offset = self.wrapped_document.location_to_offset((self._functions[name], 0))
        self.scroll_to(y=offset.y, animate=False)
        number = [*self._functions].index(name) + 1
        self.border_title = f"PyTorch · {name} · {number} of {len(self._functions)}"


def functions(lines: Sequence[str]) -> dict[str, int]:
    """Return the line of each function and class, by name; the first of each name."""
    found: dict[str, int] = {}
    for row, line in enumerate(lines):
        if match := _DEFINITION.match(line):
            found.setdefault(match[3], _with_decorators(lines, row))
    return found


def enclosing(lines: Sequence[str], row: int) -> list[str]:
    """Return the names of the functions and classes around a line, the innermost first."""
    names: list[str] = []
    limit: int | None = None
    for line in reversed(lines[: row + 1]):
        if not line.strip():
            continue
        here = len(line) - len(line.lstrip(" "))
        match = _DEFINITION.match(line)
        if match and (limit is None or here < limit):
            names.append(match[3])
        limit = here if limit is None else min(limit, here)
    return names


def _with_decorators(lines: Sequence[str], row: int) -> int:
    while row > 0 and lines[row - 1].lstrip().startswith("@"):
        row -= 1
    return row
