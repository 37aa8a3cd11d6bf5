"""The editor: Python highlighting and automatic indentation."""

from textual import events
from textual.binding import Binding
from textual.widgets import TextArea

from tutor.ui.actions import ACTIONS, actions, bindings

INDENT = 4

_SCREEN_KEYS = {
    key for action in ACTIONS.values() if action.priority for key in action.keys.split(",")
}


class CodeEditor(TextArea, inherit_bindings=False):
    """A `TextArea` for Python.

    Enter keeps the indentation and deepens it after a colon; backspace removes a whole step of
    indentation. `TextArea`'s bindings give way to those of the screen.
    """

    BINDINGS = [  # noqa: RUF012
        *(
            binding
            for binding in TextArea.BINDINGS
            if not (isinstance(binding, Binding) and binding.key in _SCREEN_KEYS)
        ),
        *bindings(actions("first_line", "last_line")),
    ]

    def __init__(self, text: str, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(
            text,
            language="python",
            theme="monokai",
            soft_wrap=False,
            tab_behavior="indent",
            show_line_numbers=True,
            id=id,
        )
        self.indent_width = INDENT

    async def _on_key(self, event: events.Key) -> None:
        """Handle keys in the order in which they were pressed.

        Textual sends a key bound to an action up to the app first, and letters typed meanwhile
        overtake it.
        """
        if event.key == "enter":
            row, column = self.cursor_location
            before = self.document[row][:column]
            self._replace_via_keyboard("\n" + next_indent(before), *self.selection)
        elif event.key == "backspace" and self._step_back():
            pass
        elif event.key in _ACTIONS:
            await self.run_action(_ACTIONS[event.key])
        else:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()

    def action_first_line(self) -> None:
        self.move_cursor(self.document.start)

    def action_last_line(self) -> None:
        self.move_cursor(self.document.end)

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


def next_indent(before: str) -> str:
    """Return the indentation of a new line after the text `before` the cursor."""
    code = before.split("#", 1)[0].rstrip()
    depth = len(before) - len(before.lstrip(" "))
    if code.endswith((":", "(", "[", "{")):
        depth += INDENT
    elif code.lstrip().startswith(("return", "raise", "pass", "break", "continue")):
        depth = max(0, depth - INDENT)
    return " " * depth
