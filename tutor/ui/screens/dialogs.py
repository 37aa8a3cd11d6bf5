"""Texts to read over another screen, which one key closes."""

from collections.abc import Collection

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Label, Static

from tutor import render
from tutor.report import Called, Explanation
from tutor.ui.actions import ACTIONS, key_of


class Dialog(ModalScreen[None]):
    """Something to read. `PANE` is the id of what scrolls.

    **Arguments:** `parts`: what is shown; `more`: what to do, besides closing.
    """

    CSS_PATH = "help.tcss"
    BINDINGS = [ACTIONS["close"].binding()]  # noqa: RUF012
    PANE = "help"

    def __init__(self, *parts: Widget, more: str = "", classes: str = "") -> None:
        super().__init__()
        closes = Label(f"{more} {key_of('close')} closes.".strip(), id=f"{self.PANE}-more")
        self._pane = VerticalScroll(*parts, closes, id=self.PANE, classes=classes)

    def compose(self) -> ComposeResult:
        yield self._pane

    def on_mount(self) -> None:
        self._pane.focus()

    def action_close(self) -> None:
        self.dismiss()


class FunctionScreen(Dialog):
    """How to call the function at the cursor, and what it is for."""

    BINDINGS = [ACTIONS["close"].binding("look_up")]  # noqa: RUF012

    def __init__(self, function: Called) -> None:
        super().__init__(Static(render.called(function)))


class ExplanationScreen(Dialog):
    """The explanation of a failure, whole: what fails next to what to write instead.

    **Arguments:** `lessons`: ids of lessons that it may point to; `width`: that it has room for.
    """

    BINDINGS = [ACTIONS["close"].binding("explain_result")]  # noqa: RUF012

    def __init__(self, explained: Explanation, lessons: Collection[str], width: int) -> None:
        from tutor.explain.index import entries

        entry = entries().get(explained.id)
        example, label = (entry.example, entry.label) if entry is not None else ("", "")
        page = render.explanation_page(explained, example, lessons, label=label, width=width)
        super().__init__(Static(page), classes="-wide")
