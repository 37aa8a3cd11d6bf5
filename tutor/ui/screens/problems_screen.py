"""The problems of a lesson that cannot be opened."""

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Static

from tutor.pack import BadPack
from tutor.ui.actions import ACTIONS, key_of


class ProblemsScreen(ModalScreen[None]):
    """Every problem, with file, line and column."""

    CSS_PATH = "problems.tcss"
    BINDINGS = [ACTIONS["close"].binding()]  # noqa: RUF012
    ADVICE = (
        "Report this to the pack's author, or fix the lesson and open it again. The other lessons "
        "are not affected."
    )

    def __init__(self, lesson_id: str, error: BadPack) -> None:
        super().__init__()
        self._lesson_id = lesson_id
        self._error = error

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="problems"):
            yield Label(Text(self._lesson_id), id="problems-title")
            yield Label(broken(self._error), id="problems-count")
            yield Static(Text(f"\n{self._error}\n"), id="problems-text")
            yield Label(f"{self.ADVICE} {key_of('close')} closes.", id="problems-more")

    def on_mount(self) -> None:
        self.query_one("#problems").focus()

    def action_close(self) -> None:
        self.dismiss()


def broken(error: BadPack) -> str:
    """Return a sentence with the number of problems."""
    count = len(error.problems)
    noun = "problem" if count == 1 else "problems"
    return f"This lesson cannot be opened: it has {count} {noun}."
