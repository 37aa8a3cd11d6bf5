"""The attempts at a lesson with their code, and what each differs in from the code now."""

import time
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Label, OptionList, Static
from textual.widgets.option_list import Option

from tutor.learner.history import KEPT, Attempt
from tutor.lesson import Lesson
from tutor.ui.actions import ACTIONS, key_of
from tutor.ui.screens.solution_diff import rows, unified
from tutor.ui.themes import syntax_theme

_MARKS = {"pass": ("✓", "green"), "fail": ("✗", "red"), "error": ("!", "red")}


class HistoryScreen(Screen[str | None]):
    """The newest attempt first. Its result is the code to restore, or None.

    **Arguments:** `attempts`: the oldest first; `code`: what is in the editor now.
    """

    CSS_PATH = "history.tcss"
    BINDINGS = [  # noqa: RUF012
        ACTIONS["back"].binding("history"),
        ACTIONS["restore"].binding(),
    ]

    def __init__(self, lesson: Lesson, attempts: Sequence[Attempt], code: str) -> None:
        super().__init__()
        self._lesson = lesson
        self._attempts = list(reversed(attempts))
        self._code = code

    def compose(self) -> ComposeResult:
        yield Label(f"{self._lesson.title}: your attempts", classes="title")
        with Horizontal(id="history"):
            yield OptionList(*map(_option, self._attempts), id="attempts")
            with VerticalScroll(id="attempt", classes="pane"):
                yield Static(id="attempt-code")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        attempts = self.query_one("#attempts", OptionList)
        attempts.border_title = "Attempts"
        attempts.highlighted = 0
        attempts.focus()

    @on(OptionList.OptionHighlighted)
    def _show(self, event: OptionList.OptionHighlighted) -> None:
        attempt = self._attempts[event.option_index]
        code, then = self._code.rstrip(), attempt.code.rstrip()
        parts: list[RenderableType] = []
        if code == then:
            words = "This is your code as it is now."
        else:
            words = f"- your code now, + this attempt. {key_of('restore')} restores it."
        parts.append(Text(f"{words}\n", "dim"))
        theme = syntax_theme(self.app.theme)
        parts.append(unified(rows(code, then, docstrings=True), theme))
        pane = self.query_one("#attempt", VerticalScroll)
        pane.border_title = f"{when(attempt)} · {counts(attempt)}"
        pane.scroll_home(animate=False)
        self.query_one("#attempt-code", Static).update(Group(*parts))

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_restore()

    def action_restore(self) -> None:
        chosen = self.query_one("#attempts", OptionList).highlighted
        if chosen is not None:
            self.dismiss(self._attempts[chosen].code)

    def action_back(self) -> None:
        self.dismiss(None)


def _option(attempt: Attempt) -> Option:
    mark, style = _MARKS.get(attempt.verdict, ("·", "dim"))
    return Option(
        Text.assemble((f"{mark} ", style), when(attempt), ("  " + counts(attempt), "dim"))
    )


def when(attempt: Attempt) -> str:
    return time.strftime("%b %d %H:%M", time.localtime(attempt.at))


def counts(attempt: Attempt) -> str:
    """Return what came of an attempt, in a few words."""
    if attempt.verdict == KEPT:
        return "not checked"
    return f"{attempt.passed} of {attempt.checks}"
