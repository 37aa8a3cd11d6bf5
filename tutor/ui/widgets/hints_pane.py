"""The hints of a lesson, docked under the code, one at a time."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown, Static

from tutor.lesson import Lesson
from tutor.ui.actions import actions, bindings, key_of


class HintsPane(VerticalScroll):
    """The hint shown now; those before it can be paged through. Closed until `show`."""

    BINDINGS = bindings(actions("earlier", "later"))

    def __init__(self, lesson: Lesson, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, classes="pane")
        self._lesson = lesson
        self._pages: list[tuple[str, str]] = []
        self._page = 0
        self._left = 0
        self.display = False
        self._text = Markdown(id="hint-text")
        self._keys = Static(id="hint-keys", classes="quiet")

    def compose(self) -> ComposeResult:
        yield self._keys  # docked at the bottom
        yield self._text

    def show(self, taken: int, failure: int = 0, first: bool = False) -> None:
        """Show the newest hint.

        **Arguments:** `taken`: the number of hints taken so far; `failure`: the number of the hint
        for the failure of the last run, 0 if there is none; `first`: whether that one is shown
        first.
        """
        hints = self._lesson.hints
        self._left = len(hints) - taken
        self._pages = [
            (f"Hint {number} of {len(hints)}", text) for number, text in enumerate(hints[:taken], 1)
        ]
        if failure:
            text = self._lesson.failure_hints[failure - 1].hint
            self._pages.append(("Hint for this failure", text))
        self._page = len(self._pages) - (2 if failure and taken and not first else 1)
        self.display = True
        self._show_page()

    def go_on(self) -> bool:
        """Show the rest of this hint, or once all are taken the following one, and the first after
        the last. Return whether that was possible; else the next hint is to be taken."""
        if not self.display or (self._left and not self._is_cut):
            return False
        if self._is_cut:
            self.scroll_page_down(animate=False)
        else:
            self._page = (self._page + 1) % len(self._pages)
            self._show_page()
        return True

    @property
    def _is_cut(self) -> bool:
        """Whether there is more of this hint below what is shown."""
        return self.display and self.scroll_offset.y < self.max_scroll_y

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self._show_keys()

    def on_resize(self) -> None:
        self._show_keys()

    def close(self) -> None:
        self.display = False

    def action_earlier(self) -> None:
        self._page = max(0, self._page - 1)
        self._show_page()

    def action_later(self) -> None:
        self._page = min(len(self._pages) - 1, self._page + 1)
        self._show_page()

    def _show_page(self) -> None:
        self.border_title, text = self._pages[self._page]
        self._text.update(text)
        self.scroll_home(animate=False)
        self.call_after_refresh(self._show_keys)

    def _show_keys(self) -> None:
        if self._is_cut:
            again = "the rest of this hint"
        elif self._left or self._page < len(self._pages) - 1:
            again = "the next hint"
        else:
            again = "the first again"
        keys = [
            f"[@click=screen.hint]{key_of('hint')}: {again}[/]",
            f"[@click=screen.close_hint]{key_of('close_hint')}: close[/]",
        ]
        if len(self._pages) > 1:
            keys.append("[@click=earlier]‹ earlier[/]  [@click=later]later ›[/]")
        self._keys.update("  ·  ".join(keys))
