"""What is wrong with a lesson that cannot be opened."""

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Static

from tutor.pack import BadPack


class ProblemsScreen(ModalScreen[None]):
    """Every problem, with file, line and column."""

    CSS_PATH = "problems.tcss"
    BINDINGS = [Binding("escape,enter,q", "close", "Close")]  # noqa: RUF012
    MORE = (
        "Tell the pack's author; or put it right, and open the lesson again. All other lessons can "
        "be used. Escape closes."
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
            yield Label(self.MORE, id="problems-more")

    def on_mount(self) -> None:
        self.query_one("#problems").focus()

    def action_close(self) -> None:
        self.dismiss()


def broken(error: BadPack) -> str:
    """How many problems there are, as a sentence."""
    count = len(error.problems)
    noun = "problem" if count == 1 else "problems"
    return f"This lesson cannot be used as it is: its pack has {count} {noun} here."
