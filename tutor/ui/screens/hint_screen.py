"""The hints of a lesson, one at a time."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Markdown

from tutor.lesson import Lesson
from tutor.ui.actions import ACTIONS, actions, bindings, key_of


class HintScreen(ModalScreen[None]):
    """The newest hint; earlier ones can be paged through.

    **Arguments:** `taken`: the number of hints taken so far; `failure`: the number of the hint for
    the failure of the last run, 0 if there is none; `first`: whether that one is shown first.
    """

    CSS_PATH = "hint.tcss"
    BINDINGS = [  # noqa: RUF012
        ACTIONS["close"].binding("hint"),
        *bindings(actions("earlier", "later")),
    ]

    def __init__(self, lesson: Lesson, taken: int, failure: int = 0, first: bool = False) -> None:
        super().__init__()
        self._left = len(lesson.hints) - taken
        count = len(lesson.hints)
        self._pages = [
            (f"Hint {number} of {count}", text)
            for number, text in enumerate(lesson.hints[:taken], 1)
        ]
        if failure:
            self._pages.append(("Hint for this failure", lesson.failure_hints[failure - 1].hint))
        self._shown = len(self._pages) - (2 if failure and not first else 1)

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
        self._shown = max(0, self._shown - 1)
        self._show()

    def action_later(self) -> None:
        self._shown = min(len(self._pages) - 1, self._shown + 1)
        self._show()

    def _show(self) -> None:
        title, text = self._pages[self._shown]
        self.query_one("#hint-title", Label).update(title)
        self.query_one("#hint-text", Markdown).update(text)
        next_hint = f"Press {key_of('hint')} again for the next hint."
        more = next_hint if self._left else "This is the last hint."
        pages = f" {key_of('earlier')} and {key_of('later')} show the hints so far."
        self.query_one("#hint-keys", Label).update(
            f"{key_of('close')} closes. {more}{pages if len(self._pages) > 1 else ''}"
        )
