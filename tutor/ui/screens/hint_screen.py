"""The hints of a lesson, one at a time."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Markdown

from tutor.lesson import Lesson
from tutor.ui.actions import ACTIONS, actions, bindings, key_of


class HintScreen(ModalScreen[None]):
    """The newest hint; earlier ones can be paged through."""

    CSS_PATH = "hint.tcss"
    BINDINGS = [  # noqa: RUF012
        ACTIONS["close"].binding("hint"),
        *bindings(actions("earlier", "later")),
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

    def action_close(self) -> None:
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
        next_hint = f"Press {key_of('hint')} again for the next hint."
        more = next_hint if self._taken < count else "This is the last hint."
        pages = f" {key_of('earlier')} and {key_of('later')} show the hints so far."
        self.query_one("#hint-keys", Label).update(
            f"{key_of('close')} closes. {more}{pages if self._taken > 1 else ''}"
        )
