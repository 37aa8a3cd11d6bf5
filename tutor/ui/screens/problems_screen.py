"""The problems of a lesson that cannot be opened."""

from rich.text import Text
from textual.widgets import Label, Static

from tutor.pack import BadPack
from tutor.ui.screens.dialogs import Dialog


class ProblemsScreen(Dialog):
    """Every problem, with file, line and column."""

    CSS_PATH = "problems.tcss"
    PANE = "problems"
    ADVICE = (
        "Report this to the pack's author, or fix the lesson and open it again. The other lessons "
        "are not affected."
    )

    def __init__(self, lesson_id: str, error: BadPack) -> None:
        title = Label(Text(lesson_id), id="problems-title")
        self._count, self._text = Label(id="problems-count"), Static(id="problems-text")
        super().__init__(title, self._count, self._text, more=self.ADVICE)
        self.show(error)

    def show(self, error: BadPack) -> None:
        self._count.update(broken(error))
        self._text.update(Text(f"\n{error}\n"))


def broken(error: BadPack) -> str:
    """Return a sentence with the number of problems."""
    count = len(error.problems)
    noun = "problem" if count == 1 else "problems"
    return f"This lesson cannot be opened: it has {count} {noun}."
