"""The line at the top of the home: one key, or a click, goes on where the learner left off."""

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tutor.ui.actions import key_of


class GoOnLine(Static):
    """The lesson that the key opens."""

    DEFAULT_CSS = """
    GoOnLine {
        height: 1;
        padding: 0 1;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        &:hover { background: $block-hover-background; }
    }
    """

    class Clicked(Message):
        """The line was clicked."""

    _words = _fact = ""

    def show(self, words: str, fact: str = "") -> None:
        """Show what the key does, and a fact about it if there is room."""
        self._words, self._fact = words, fact
        self._paint()

    def on_resize(self) -> None:
        self._paint()

    def _paint(self) -> None:
        key = f"{key_of('go_on')}  "
        fact = f"  ·  {self._fact}" if self._fact else ""
        if cell_len(key + self._words + fact) > self.content_size.width:
            fact = ""
        self.update(Content.assemble((key, "bold $accent"), self._words, (fact, "$text-muted")))

    def on_click(self) -> None:
        self.post_message(self.Clicked())
