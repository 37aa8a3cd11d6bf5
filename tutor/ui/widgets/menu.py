"""The menu of a screen: after its key, each letter is an action. It works in every terminal."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text
from textual.widgets import Static

from tutor.ui.actions import Action

COLUMN = 14
"""Columns of an entry."""


class Menu(Static):
    """Letters and what they do, at the bottom of the screen while it is open. A click does the
    same."""

    def __init__(self, actions: Iterable[Action], *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._actions = [action for action in actions if action.letter]
        self.display = False

    def on_resize(self) -> None:
        count = max(1, self.content_size.width // COLUMN)
        rows = -(-len(self._actions) // count)
        grid = Table.grid(padding=(0, 1), expand=False)
        for _ in range(count):
            grid.add_column(width=COLUMN - 1, no_wrap=True)
        for row in range(rows):
            grid.add_row(*(self._entry(action) for action in self._actions[row::rows]))
        self.update(grid)

    def _entry(self, action: Action) -> Text:
        entry = Text.assemble((f" {action.letter} ", "bold"), action.label)
        entry.apply_meta({"@click": f"screen.letter('{action.id}')"})
        return entry
