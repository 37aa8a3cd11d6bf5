"""Hints, one by one."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Markdown

from tutor.lesson import Lesson


class HintScreen(ModalScreen[None]):
    """The hint just taken; those taken before are a key away."""

    CSS_PATH = "hint.tcss"
    BINDINGS = [  # noqa: RUF012
        Binding("escape,enter,f6,ctrl+t,q", "dismiss_hint", "Close"),
        Binding("left", "earlier", "Earlier"),
        Binding("right", "later", "Later"),
    ]

    def __init__(self, lesson: Lesson, taken: int) -> None:
        super().__init__()
        self._lesson = lesson
        self._taken = taken
        self._shown = taken

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="hint"):
            yield Label(id="hint-title")
            yield Markdown(id="hint-text")
            yield Label(id="hint-keys")

    def on_mount(self) -> None:
        self._show()
        self.query_one("#hint").focus()

    def action_dismiss_hint(self) -> None:
        self.dismiss()

    def action_earlier(self) -> None:
        self._shown = max(1, self._shown - 1)
        self._show()

    def action_later(self) -> None:
        self._shown = min(self._taken, self._shown + 1)
        self._show()

    def _show(self) -> None:
        count = len(self._lesson.hints)
        self.query_one("#hint-title", Label).update(f"Hint {self._shown} of {count}")
        self.query_one("#hint-text", Markdown).update(self._lesson.hints[self._shown - 1])
        more = "Press F6 again for the next one." if self._taken < count else "That was the last."
        earlier = " Left and right page through those you have." if self._taken > 1 else ""
        self.query_one("#hint-keys", Label).update(f"Escape closes. {more}{earlier}")
