"""What a function of a library says of itself."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Static

from tutor import render
from tutor.report import Called
from tutor.ui.actions import ACTIONS, key_of


class FunctionScreen(ModalScreen[None]):
    """How to call the function at the cursor, and what it is for."""

    CSS_PATH = "help.tcss"
    BINDINGS = [ACTIONS["close"].binding("look_up")]  # noqa: RUF012

    def __init__(self, function: Called) -> None:
        super().__init__()
        self._function = function

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(render.called(self._function))
            yield Label(f"{key_of('close')} closes.", id="help-more")

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    def action_close(self) -> None:
        self.dismiss()
