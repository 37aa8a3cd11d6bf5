"""The learner's code compared with the solution."""

import difflib
from collections.abc import Iterator

from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Label, Static

from tutor.lesson import Lesson
from tutor.ui.actions import ACTIONS


class SolutionScreen(Screen[None]):
    """A diff: in two columns if there is room, otherwise unified."""

    CSS_PATH = "solution.tcss"
    BINDINGS = [  # noqa: RUF012
        ACTIONS["back"].binding("solution"),
        ACTIONS["next"].binding(),
    ]

    def __init__(self, lesson: Lesson, code: str, solution: str) -> None:
        super().__init__()
        self._lesson = lesson
        self._code = code
        self._solution = solution

    def compose(self) -> ComposeResult:
        yield Label(f"{self._lesson.title}: your code and the solution", classes="title")
        with VerticalScroll(id="solution", classes="pane"):
            yield Static(id="diff")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#solution").focus()

    def on_resize(self) -> None:
        wide = self.size.width >= 100
        view = side_by_side if wide else unified
        self.query_one("#diff", Static).update(view(self._code, self._solution))

    def action_back(self) -> None:
        self.dismiss()

    def action_next(self) -> None:
        self.dismiss()
        self.app.call_later(self.app.run_action, "screen.next")


def side_by_side(code: str, solution: str) -> Table:
    """Return a diff in two columns."""
    table = Table(box=None, expand=True, pad_edge=False, padding=(0, 1))
    table.add_column("yours", ratio=1, overflow="fold")
    table.add_column("solution", ratio=1, overflow="fold")
    for left, right in rows(code, solution):
        different = left != right
        table.add_row(
            _line(left, "red" if different else ""), _line(right, "green" if different else "")
        )
    return table


def rows(code: str, solution: str) -> Iterator[tuple[str | None, str | None]]:
    """Yield pairs of lines; None where one side has no line."""
    left, right = code.rstrip().splitlines(), solution.rstrip().splitlines()
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, left, right, False).get_opcodes():
        if tag == "equal":
            yield from zip(left[i1:i2], right[j1:j2], strict=True)
            continue
        for offset in range(max(i2 - i1, j2 - j1)):
            yield (
                left[i1 + offset] if i1 + offset < i2 else None,
                right[j1 + offset] if j1 + offset < j2 else None,
            )


def _line(text: str | None, style: str) -> Text:
    if text is None:
        return Text("")
    if style:
        return Text(text, style)
    return highlighted(text)


def highlighted(text: str) -> Text:
    """Return a line of Python with syntax highlighting."""
    line = Syntax("", "python", theme="monokai", background_color="default").highlight(text)
    line.rstrip()
    return line


def unified(code: str, solution: str) -> Text:
    """Return a unified diff."""
    lines = difflib.unified_diff(
        code.rstrip().splitlines(),
        solution.rstrip().splitlines(),
        "yours",
        "solution",
        lineterm="",
        n=100,
    )
    text = Text()
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        text.append(line + "\n", styles.get(line[:1], ""))
    return text if text else Text("Your code is identical to the solution.")
