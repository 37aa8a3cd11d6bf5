"""An explanation, whole: what fails next to what to write instead, and where to read more."""

from collections.abc import Collection

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Static

from tutor import render
from tutor.report import Explanation
from tutor.ui.actions import ACTIONS, key_of

MARGIN = 10
"""Columns of the screen that the explanation leaves free: borders and padding."""


class ExplanationScreen(ModalScreen[None]):
    """The explanation of a failure.

    **Arguments:** `lessons`: ids of lessons that it may point to.
    """

    CSS_PATH = "help.tcss"
    BINDINGS = [ACTIONS["close"].binding("explain_result")]  # noqa: RUF012

    def __init__(self, explained: Explanation, lessons: Collection[str]) -> None:
        super().__init__()
        self._explained = explained
        self._lessons = lessons

    def compose(self) -> ComposeResult:
        from tutor.explain.index import entries

        entry = entries().get(self._explained.id)
        width = self.app.size.width - MARGIN
        with VerticalScroll(id="help", classes="-wide"):
            yield Static(
                render.explanation_page(
                    self._explained,
                    entry.example if entry is not None else "",
                    self._lessons,
                    raises=entry is not None and entry.raises,
                    width=width,
                ),
            )
            yield Label(f"{key_of('close')} closes.", id="help-more")

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    def action_close(self) -> None:
        self.dismiss()
