"""The editor: Python highlighting, indentation, and the keys that hands expect."""

from collections.abc import Callable, Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events, on, work
from textual.binding import Binding
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Location, Selection
from textual.worker import get_current_worker

from tutor.engine.library import Library, known_library, library
from tutor.ui.actions import ACTIONS, EDITING, actions, bindings
from tutor.ui.completion import function_at
from tutor.ui.screens.dialogs import FunctionScreen
from tutor.ui.themes import colour_code
from tutor.ui.widgets.completion_list import CompletionList
from tutor.ui.widgets.find_bar import FindBar
from tutor.ui.widgets.python_lines import (
    INDENT,
    closing_depth,
    dedented,
    depth,
    indented,
    next_depth,
    toggled_comments,
)

MARK = "●"
"""Stands beside a line to which a failure points."""

_TAKEN = {
    key
    for action in ACTIONS.values()
    if action.priority or action.id in EDITING
    for key in action.keys.split(",")
}
"""Keys that mean something else here than in a `TextArea`."""


class CodeEditor(TextArea, inherit_bindings=False):
    """A `TextArea` for Python. `TextArea`'s bindings give way to those of the screen."""

    BINDINGS = [  # noqa: RUF012
        *(
            binding
            for binding in TextArea.BINDINGS
            if isinstance(binding, Binding) and not _TAKEN & {*binding.key.split(",")}
        ),
        *bindings(actions(*EDITING)),
    ]

    def __init__(self, text: str, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(
            text,
            language="python",
            soft_wrap=False,
            tab_behavior="indent",
            show_line_numbers=True,
            id=id,
        )
        self.indent_width = INDENT
        self._marked: frozenset[int] = frozenset()
        self.find_bar = FindBar(self, id="find")
        """Opened by the keys for finding. The screen composes it, and the list below."""
        self.completion_list = CompletionList(self, id="names")
        """Opened by the key for completing a name."""

    def on_mount(self) -> None:
        colour_code(self)

    def mark(self, lines: Iterable[int]) -> None:
        """Put a mark beside lines, counted from 1; no longer beside others."""
        marked = frozenset(lines)
        if marked != self._marked:
            self._marked = marked
            self.refresh()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        line = y + self.scroll_offset.y + 1  # lines are not wrapped
        if line not in self._marked:
            return strip
        at = self.gutter_width - 1
        style = Style(color=self.app.theme_variables["error"], bold=True)
        mark = Strip([Segment(MARK, style)], 1)
        return Strip.join([strip.crop(0, at), mark, strip.crop(at + 1)])

    async def _on_key(self, event: events.Key) -> None:
        """Handle keys in the order in which they were pressed.

        Textual sends a key bound to an action up to the app first, and letters typed meanwhile
        overtake it.
        """
        if self._menu_is_open:
            event.prevent_default()  # the screen's `on_key` closes the menu
            return
        if self._is_for_list(event.key):
            pass
        elif event.key == "enter":
            self._new_line()
        elif event.key == "backspace" and self._step_back():
            pass
        elif event.key == "escape" or (event.key.startswith("alt+") and event.key not in _ACTIONS):
            # Not to the next pane, as in a `TextArea`; and no letter of a key that does nothing.
            event.prevent_default()
            return
        elif event.key in _ACTIONS:
            await self.run_action(_ACTIONS[event.key])
        else:
            await super()._on_key(event)
            if event.character in (":", ")", "]", "}"):
                self._close()
            return
        event.stop()
        event.prevent_default()

    def _is_for_list(self, key: str) -> bool:
        """Do what a key means for the list of names, if that is open."""
        names = self.completion_list
        if not names.display:
            return False
        if key == "escape":
            names.close()
        elif key in names.KEYS:
            getattr(names, f"action_{names.KEYS[key]}")()
        else:
            return False
        return True

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def _follow_with_list(self) -> None:
        self.completion_list.follow()

    def on_blur(self) -> None:
        self.completion_list.close()

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        return not self._menu_is_open and super().check_consume_key(key, character)

    @property
    def _menu_is_open(self) -> bool:
        """Whether letters are actions of the screen."""
        return getattr(self.screen, "menu_is_open", False)

    # --- actions -----------------------------------------------------------------------------

    def action_first_line(self) -> None:
        self.move_cursor(self.document.start)

    def action_last_line(self) -> None:
        self.move_cursor(self.document.end)

    def action_line_start(self) -> None:
        """Go to the start of the line; once there, select everything."""
        row, column = self.cursor_location
        if column == 0 and self.selection.is_empty:
            self.select_all()
        else:
            first = depth(self.document[row])
            self.move_cursor((row, first if column > first else 0))

    def action_indent(self) -> None:
        if self.selection.is_empty:
            self.insert(" " * self._find_columns_to_next_tab_stop())
        else:
            self._edit_lines(indented)

    def action_dedent(self) -> None:
        self._edit_lines(dedented)

    def action_comment(self) -> None:
        self._edit_lines(toggled_comments)

    def action_duplicate(self) -> None:
        self._edit_lines(lambda lines: [*lines, *lines], down=self._selected_rows_count)

    def action_line_up(self) -> None:
        top, bottom = self._rows
        if top > 0:
            self._edit_lines(lambda lines: [*lines[1:], lines[0]], top - 1, bottom, down=-1)

    def action_line_down(self) -> None:
        top, bottom = self._rows
        if bottom + 1 < self.document.line_count:
            self._edit_lines(lambda lines: [lines[-1], *lines[:-1]], top, bottom + 1, down=1)

    def action_find(self) -> None:
        self.find_bar.open()

    def action_go_to_line(self) -> None:
        self.find_bar.open(line=True)

    def action_complete(self) -> None:
        self.completion_list.open()

    def action_look_up(self) -> None:
        known = known_library()
        if known is not None:
            self._show_function(known)
        else:
            self._read_library()

    @work(thread=True, exclusive=True)
    def _read_library(self) -> None:
        known, worker = library(), get_current_worker()
        if worker.is_cancelled:  # or the screen has been left
            return
        if known is not None:
            self.app.call_from_thread(self._show_function, known)
        else:
            unread = "The libraries could not be read. Run jaxtutor doctor in a terminal."
            self.app.call_from_thread(self.notify, unread, severity="error")

    def _show_function(self, known: Library) -> None:
        name, function = function_at(self.text, *self.cursor_location, known)
        if function is not None:
            self.app.push_screen(FunctionScreen(function))
        else:
            unknown = f"Nothing is known of {name}. " if name else ""
            self.notify(f"{unknown}Put the cursor on a function such as jax.lax.scan.")

    # --- lines -------------------------------------------------------------------------------

    @property
    def _rows(self) -> tuple[int, int]:
        """The first and the last line that are selected, or the cursor's. A line of which nothing
        is selected but the break before it does not count."""
        (top, _), (bottom, column) = sorted(self.selection)
        return top, bottom - 1 if bottom > top and column == 0 else bottom

    @property
    def _selected_rows_count(self) -> int:
        top, bottom = self._rows
        return bottom - top + 1

    def _edit_lines(
        self,
        change: Callable[[Sequence[str]], list[str]],
        top: int | None = None,
        bottom: int | None = None,
        down: int = 0,
    ) -> None:
        """Replace whole lines, by default those that are selected, in one step of undo. The
        selection stays on its text, `down` lines further."""
        if top is None or bottom is None:
            top, bottom = self._rows
        before = [self.document[row] for row in range(top, bottom + 1)]
        after = change(before)
        if after == before:
            return
        start, end = self.selection

        def moved(location: Location) -> Location:
            row, column = location
            if down or not top <= row <= bottom:
                return row + down, column
            longer = len(after[row - top]) - len(before[row - top])
            beyond = column > depth(before[row - top]) or column == len(before[row - top])
            return row, max(0, column + longer) if beyond else column

        selection = Selection(moved(start), moved(end))
        self.history.checkpoint()
        self.replace("\n".join(after), (top, 0), (bottom, len(self.document[bottom])))
        self.history.checkpoint()
        self.selection = selection

    def _before_cursor(self) -> list[str]:
        row, column = min(self.selection)
        return [*(self.document[line] for line in range(row)), self.document[row][:column]]

    def _new_line(self) -> None:
        break_ = "\n" + " " * next_depth(self._before_cursor())
        self._replace_via_keyboard(break_, *self.selection)

    def _close(self) -> None:
        """Move a line that has become `else:` or a closing bracket to where that belongs."""
        row, _ = self.cursor_location
        line = self.document[row]
        wanted = closing_depth(self._before_cursor())
        if wanted is not None and wanted != depth(line):
            self._replace_via_keyboard(" " * wanted, (row, 0), (row, depth(line)))
            self.move_cursor((row, len(line) - depth(line) + wanted))

    def _step_back(self) -> bool:
        """Remove a step of indentation, if there is nothing else before the cursor."""
        row, column = self.cursor_location
        before = self.document[row][:column]
        if not self.selection.is_empty or not before or before.strip(" "):
            return False
        stop = (column - 1) // INDENT * INDENT
        self._delete_via_keyboard((row, stop), (row, column))
        return True


_ACTIONS = {
    key: binding.action
    for binding in CodeEditor.BINDINGS
    if isinstance(binding, Binding)
    for key in binding.key.split(",")
}
