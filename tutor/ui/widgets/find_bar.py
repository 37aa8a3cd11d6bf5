"""Find and replace in the editor, and going to a line."""

import re

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label, TextArea
from textual.widgets.text_area import Selection

from tutor.ui.actions import ACTIONS, actions, bindings, shown_key


class FindBar(Horizontal):
    """A line below the code. Enter finds the next place, or replaces it."""

    BINDINGS = bindings(actions("close_bar", "replace_all"))

    def __init__(self, editor: TextArea, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._editor = editor
        self._line = False
        self.display = False

    def compose(self) -> ComposeResult:
        yield Input(placeholder="find", id="find-text", compact=True)
        replace_all = shown_key(ACTIONS["replace_all"].key)
        words = f"replace ({replace_all}: all)"
        yield Input(placeholder=words, id="find-new", compact=True)
        yield Label(id="find-state")

    def open(self, line: bool = False) -> None:
        """Ask for a text to find, or for the number of a line."""
        self._line = line
        self.display = True
        self.query_one("#find-new").display = not line
        text = self.query_one("#find-text", Input)
        text.placeholder = "line" if line else "find"
        chosen = self._editor.selected_text
        text.value = "" if line else chosen if chosen and "\n" not in chosen else text.value
        self.query_one("#find-state", Label).update("")
        self.screen.set_focus(text)

    def action_close_bar(self) -> None:
        self.display = False
        self.screen.set_focus(self._editor)

    @on(Input.Submitted, "#find-text")
    def _find(self, message: Input.Submitted) -> None:
        if not self._line:
            self._next(message.value)
        elif message.value.strip().isdigit():
            row = min(int(message.value), self._editor.document.line_count) - 1
            self._editor.move_cursor((max(0, row), 0), center=True)
            self.action_close_bar()
        else:
            count = self._editor.document.line_count
            self._say(f"a number from 1 to {count}, please")

    @on(Input.Submitted, "#find-new")
    def _replace(self, message: Input.Submitted) -> None:
        text = self.query_one("#find-text", Input).value
        if text and _same(self._editor.selected_text, text):
            self._editor.replace(
                message.value, *sorted(self._editor.selection), maintain_selection_offset=False
            )
        self._next(text)

    def action_replace_all(self) -> None:
        text, new = (self.query_one(name, Input).value for name in ("#find-text", "#find-new"))
        if self._line or not text:
            return
        changed, count = _pattern(text).subn(lambda _: new, self._editor.text)
        if count:
            cursor = self._editor.cursor_location
            document = self._editor.document
            self._editor.history.checkpoint()
            self._editor.replace(changed, document.start, document.end)
            self._editor.history.checkpoint()
            self._editor.move_cursor(cursor)
        self._say(f"{count} replaced")

    def _next(self, text: str) -> None:
        """Select the next place after the selection, from the top again after the last one."""
        if not text:
            return
        whole = self._editor.text
        places = [match.span() for match in _pattern(text).finditer(whole)]
        if not places:
            self._say("not found")
            return
        after = max(self._editor.selection)
        found = [(_location(whole, start), _location(whole, end)) for start, end in places]
        number = next((n for n, (start, _) in enumerate(found) if start >= after), 0)
        self._editor.selection = Selection(*found[number])
        self._editor.scroll_cursor_visible(center=True)
        self._say(f"{number + 1} of {len(places)}")

    def _say(self, words: str) -> None:
        self.query_one("#find-state", Label).update(words)


def _pattern(text: str) -> re.Pattern[str]:
    """Return a pattern for a text; capitals count only if the text has any."""
    return re.compile(re.escape(text), re.IGNORECASE if text == text.lower() else 0)


def _same(found: str, text: str) -> bool:
    return _pattern(text).fullmatch(found) is not None


def _location(text: str, index: int) -> tuple[int, int]:
    """Return the row and column of a place in a text."""
    row = text.count("\n", 0, index)
    return row, index - (text.rfind("\n", 0, index) + 1)
