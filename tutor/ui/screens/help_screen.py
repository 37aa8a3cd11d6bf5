"""Every key that works on a screen."""

from collections.abc import Iterable

from rich.table import Table
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Static

from tutor.ui.actions import Action, shown_keys


class HelpScreen(ModalScreen[None]):
    """The actions of the screen below, with their keys."""

    CSS_PATH = "help.tcss"
    BINDINGS = [Binding("escape,f1,enter,q", "close", "Close")]  # noqa: RUF012

    def __init__(self, actions: Iterable[Action]) -> None:
        super().__init__()
        self._actions = actions

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Label("Keys", id="help-title")
            yield Static(table(self._actions))
            yield Label("Ctrl+P finds all of this by name. Escape closes.", id="help-more")

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    def action_close(self) -> None:
        self.dismiss()


def table(actions: Iterable[Action]) -> Table:
    """Keys and what they do."""
    rows = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    rows.add_column(style="bold", no_wrap=True)
    rows.add_column()
    for action in actions:
        rows.add_row(shown_keys(action), action.help)
    return rows
