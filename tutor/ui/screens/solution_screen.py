"""The learner's code compared with the solution."""

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Label, Static

from tutor.lesson import Lesson
from tutor.ui.actions import ACTIONS
from tutor.ui.screens.solution_diff import rows, side_by_side, unified
from tutor.ui.themes import syntax_theme

WIDE = 100
"""Columns from which both stand side by side."""


class SolutionScreen(Screen[None]):
    """The differences: in two columns if there is room, otherwise below each other."""

    CSS_PATH = "solution.tcss"
    BINDINGS = [  # noqa: RUF012
        ACTIONS["back"].binding("solution"),
        ACTIONS["onward"].binding(),
    ]

    def __init__(self, lesson: Lesson, code: str, solution: str) -> None:
        super().__init__()
        self._lesson = lesson
        self._rows = rows(code, solution)
        self._same = ""
        if code.rstrip() == solution.rstrip():
            self._same = "Your code is identical to the solution."
        elif not any(line is not None and line.changed for row in self._rows for line in row):
            self._same = "Your code differs from the solution in docstrings only."

    def compose(self) -> ComposeResult:
        yield Label(f"{self._lesson.title}: your code and the solution", classes="title")
        with VerticalScroll(id="solution", classes="pane"):
            yield Static(id="diff")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#solution").focus()
        self.app.theme_changed_signal.subscribe(self, lambda theme: self._show())

    def on_resize(self) -> None:
        self._show()

    def _show(self) -> None:
        view = side_by_side if self.size.width >= WIDE else unified
        parts: list[RenderableType] = [view(self._rows, syntax_theme(self.app.theme))]
        if self._same:
            parts.insert(0, Text(f"{self._same}\n", "bold"))
        self.query_one("#diff", Static).update(Group(*parts))

    def action_back(self) -> None:
        self.dismiss()

    def action_onward(self) -> None:
        self.dismiss()
        self.app.call_later(self.app.run_action, "screen.next")
