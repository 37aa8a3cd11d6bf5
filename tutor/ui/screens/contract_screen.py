"""What a function of a library needs."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Static

from tutor import render
from tutor.report import Contract
from tutor.ui.actions import ACTIONS, key_of


class ContractScreen(ModalScreen[None]):
    """What the function at the cursor needs, with code that calls it rightly."""

    CSS_PATH = "help.tcss"
    BINDINGS = [ACTIONS["close"].binding("look_up")]  # noqa: RUF012

    def __init__(self, contract: Contract) -> None:
        super().__init__()
        self._contract = contract

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(render.contract(self._contract))
            yield Label(f"{key_of('close')} closes.", id="help-more")

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    def action_close(self) -> None:
        self.dismiss()
