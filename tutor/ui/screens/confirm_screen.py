"""A question with yes and no."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label


class ConfirmScreen(ModalScreen[bool]):
    """Dismissed with True for yes."""

    CSS_PATH = "confirm.tcss"
    BINDINGS = [  # noqa: RUF012
        Binding("y,enter", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(id="confirm"):
            yield Label(self._question, id="question")
            yield Label("Enter or y: yes    Escape or n: no", id="answers")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)
