"""The solution beside the learner's code, as a text diff."""

import difflib
from collections.abc import Iterator

from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Label, Static

from tutor.lesson import Lesson


class SolutionScreen(Screen[None]):
    """Side by side where there is room, one below the other where there is not."""

    CSS_PATH = "solution.tcss"
    BINDINGS = [  # noqa: RUF012
        Binding("escape,f7,q", "close", "Back"),
        Binding("f8,ctrl+n", "next", "Next lesson"),
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
        view = side_by_side if wide else one_below_the_other
        self.query_one("#diff", Static).update(view(self._code, self._solution))

    def action_close(self) -> None:
        self.dismiss()

    def action_next(self) -> None:
        self.dismiss()
        self.app.call_later(self.app.run_action, "screen.next")


def side_by_side(code: str, solution: str) -> Table:
    """Two columns, equal lines beside each other, different ones coloured."""
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
    """Pairs of lines; None where one side has no line."""
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
    """One line of Python in colours."""
    line = Syntax("", "python", theme="monokai", background_color="default").highlight(text)
    line.rstrip()
    return line


def one_below_the_other(code: str, solution: str) -> Text:
    """As `diff -u` shows it."""
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
    return text if text else Text("Your code is the solution, to the letter.")
