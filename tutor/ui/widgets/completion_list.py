"""The names that can continue what is typed, in a list at the cursor."""

from rich.text import Text
from textual import on, work
from textual.geometry import Offset
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from tutor.engine.library import Library, known_library, library
from tutor.ui.completion import Completion, completions

MOST = 200
"""Names that are listed; somebody who wants another one types more of it."""


class CompletionList(OptionList, can_focus=False):
    """A list over the editor, which keeps the focus and hands keys over while the list is open."""

    KEYS = {  # noqa: RUF012
        "up": "cursor_up",
        "down": "cursor_down",
        "pageup": "page_up",
        "pagedown": "page_down",
        "enter": "select",
        "tab": "select",
    }

    def __init__(self, editor: TextArea, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._editor = editor
        self._row = self._column = 0
        self._found: tuple[Completion, ...] = ()
        self._library: Library | None = None
        self.display = False

    def open(self) -> None:
        """Complete the name before the cursor if only one is possible, or else list them. The first
        time after an installation, the libraries' names take some seconds to read."""
        known = self._library or known_library()
        if known is not None:
            self._open(known)
        else:
            self._read()

    @work(thread=True, exclusive=True)
    def _read(self) -> None:
        found, worker = library(), get_current_worker()
        if not worker.is_cancelled:  # or the screen has been left
            self.app.call_from_thread(self._open, found)

    def _open(self, found: Library | None) -> None:
        self._library = found
        self._look()
        if len(self._found) == 1:
            self._take(self._found[0])
        elif self._found:
            self._show()
        else:
            self.close()
            self.app.notify("no name begins like this", timeout=2)

    def close(self) -> None:
        self.display = False

    def follow(self) -> None:
        """List the names that still fit after a key of the editor."""
        if not self.display:
            return
        before = self._row, self._column
        self._look()
        if self._found and (self._row, self._column) == before:
            self._show()
        else:
            self.close()

    def _look(self) -> None:
        row, column = self._editor.cursor_location
        found = completions(self._editor.text, row, column, self._library)
        self._row, self._column, self._found = row, found.column, found.found[:MOST]

    def _show(self) -> None:
        self.set_options(Option(_line(one), id=one.name) for one in self._found)
        self.highlighted = 0
        _, column = self._editor.cursor_location
        at = self._editor.cursor_screen_offset
        self.absolute_offset = Offset(at.x - (column - self._column) - 1, at.y)
        self.display = True

    def _take(self, one: Completion) -> None:
        row, column = self._editor.cursor_location
        self._editor.replace(one.name, (row, self._column), (row, column))
        self._editor.move_cursor((row, self._column + len(one.name)))
        self.close()

    @on(OptionList.OptionSelected)
    def _chosen(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self._take(self._found[message.option_index])


def _line(one: Completion) -> Text:
    return Text.assemble(one.name, (one.signature, "dim"), no_wrap=True, overflow="ellipsis")
