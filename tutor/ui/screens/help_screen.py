"""The help screen: every key that works on the screen below it, and where its focus is."""

from collections.abc import Iterable, Sequence

from rich.table import Table
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Label, Static

from tutor.ui.actions import ACTIONS, Action, key_of, shown_keys


class HelpScreen(ModalScreen[None]):
    """Tables of actions and their keys: of the widget with the focus, and of the screen."""

    CSS_PATH = "help.tcss"
    BINDINGS = [ACTIONS["close"].binding("help")]  # noqa: RUF012

    def __init__(self, actions: Iterable[Action], here: Sequence[Action] = ()) -> None:
        super().__init__()
        self._actions = actions
        self._here = here

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Label("Keys", id="help-title")
            yield Static(table(self._actions))
            if self._here:
                yield Label("Where the focus is", classes="help-part")
                yield Static(table(self._here))
            more = f"{key_of('palette')} searches these by name. {key_of('close')} closes."
            yield Label(more, id="help-more")

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    def action_close(self) -> None:
        self.dismiss()


def actions_at_focus(screen: Screen[object]) -> list[Action]:
    """Return what only the keys of the widget with the focus do, such as the editor's."""
    outer = (screen, screen.app)
    found = (one.binding.id for one in screen.active_bindings.values() if one.node not in outer)
    return [ACTIONS[name] for name in dict.fromkeys(found) if name in ACTIONS]


def table(actions: Iterable[Action]) -> Table:
    """Return a table of keys and what they do."""
    rows = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    rows.add_column(style="bold", no_wrap=True)
    rows.add_column()
    for action in actions:
        rows.add_row(shown_keys(action), action.help)
    return rows
