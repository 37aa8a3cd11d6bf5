"""The help screen: every key that works on the screen below it, and where its focus is."""

from collections.abc import Iterable, Sequence

from rich.table import Table
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Label, Static

from tutor.ui.actions import ACTIONS, Action, key_of, shown_keys
from tutor.ui.screens.dialogs import Dialog


class HelpScreen(Dialog):
    """Tables of actions and their keys: of the widget with the focus, and of the screen."""

    BINDINGS = [ACTIONS["close"].binding("help")]  # noqa: RUF012

    def __init__(self, actions: Iterable[Action], here: Sequence[Action] = ()) -> None:
        parts: list[Widget] = [Label("Keys", id="help-title"), Static(table(actions))]
        if here:
            parts += [Label("Where the focus is", classes="help-part"), Static(table(here))]
        super().__init__(*parts, more=f"{key_of('palette')} searches these by name.")


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
