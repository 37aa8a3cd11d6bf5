"""A yes-or-no question."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label

from tutor.ui.actions import ACTIONS, actions, bindings, shown_keys


class ConfirmScreen(ModalScreen[bool]):
    """Dismissed with True for yes."""

    CSS_PATH = "confirm.tcss"
    BINDINGS = bindings(actions("yes", "no"))

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(id="confirm"):
            yield Label(self._question, id="question")
            yes, no = shown_keys(ACTIONS["yes"]), shown_keys(ACTIONS["no"])
            yield Label(f"{yes}: yes    {no}: no", id="answers")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)
