"""What hands expect of the editor: a table of contracts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.widgets import Input
from textual.widgets.text_area import Selection

from tests.cases import all_cases
from tutor.ui.widgets.code_view import enclosing, functions
from tutor.ui.widgets.editor import MARK, CodeEditor
from tutor.ui.widgets.find_bar import FindBar
from tutor.ui.widgets.python_lines import (
    closing_depth,
    dedented,
    depth,
    indented,
    next_depth,
    toggled_comments,
)


class EditorApp(App[None]):
    """An editor with its find bar, and another widget that Tab could reach."""

    def compose(self) -> ComposeResult:
        self.editor = CodeEditor("", id="code")
        self.editor.find_bar = FindBar(self.editor, id="find")
        with Vertical():
            yield self.editor
            yield self.editor.find_bar
            yield Input(id="other")

    def on_mount(self) -> None:
        self.editor.focus()


@asynccontextmanager
async def editing(
    text: str, cursor: tuple[int, int] | None = None, to: tuple[int, int] | None = None
) -> AsyncIterator[tuple[CodeEditor, "Pilot[None]"]]:
    """**Arguments:** `cursor`: by default the end of the text; `to`: the end of a selection."""
    app = EditorApp()
    async with app.run_test() as pilot:
        editor = app.editor
        editor.load_text(text)
        start = cursor or editor.document.end
        editor.selection = Selection(start, to or start)
        yield editor, pilot


BLOCK = "def f(x):\n    if x:\n        return 1\n"

# Text, selection, keys, the text after.
CONTRACTS: dict[str, tuple[str, tuple[int, int], tuple[int, int] | None, list[str], str]] = {
    "tab indents a selection": ("a\nb\nc", (0, 0), (1, 1), ["tab"], "    a\n    b\nc"),
    "tab goes to the next stop": ("ab", (0, 2), None, ["tab", "x"], "ab  x"),
    "shift+tab dedents a line": ("    a", (0, 5), None, ["shift+tab"], "a"),
    "shift+tab dedents a selection": ("    a\n  b", (0, 0), (1, 3), ["shift+tab"], "a\nb"),
    "shift+tab does nothing at the margin": ("a", (0, 1), None, ["shift+tab", "b"], "ab"),
    "enter deepens after a colon": ("if x:", (0, 5), None, ["enter", "y"], "if x:\n    y"),
    "enter keeps the column after a name that begins with a keyword": (
        "    returns = 1", (0, 15), None, ["enter", "y"], "    returns = 1\n    y",
    ),
    "enter dedents after return": (
        "    return 1", (0, 12), None, ["enter", "y"], "    return 1\ny",
    ),
    "enter indents inside an open bracket": ("f(", (0, 2), None, ["enter", "y"], "f(\n    y"),
    "enter aligns with the first argument": ("f(a,", (0, 4), None, ["enter", "y"], "f(a,\n  y"),
    "enter returns to the statement after a bracket": (
        "    x = f(\n        a)", (1, 10), None, ["enter", "y"], "    x = f(\n        a)\n    y",
    ),
    "a colon in a comment does not deepen": (
        "x = 1  # so:", (0, 12), None, ["enter", "y"], "x = 1  # so:\ny",
    ),
    "a hash in a string is no comment": (
        "if x == '#':", (0, 12), None, ["enter", "y"], "if x == '#':\n    y",
    ),
    "else dedents": (
        "if x:\n    y\n    else", (2, 8), None, ["colon"], "if x:\n    y\nelse:",
    ),
    "except dedents to its try": (
        "try:\n    if x:\n        y\n        except", (3, 14), None, ["colon"],
        "try:\n    if x:\n        y\nexcept:",
    ),
    "a closing bracket dedents": (
        "x = f(\n    a,\n    ", (2, 4), None, ["right_parenthesis"], "x = f(\n    a,\n)",
    ),
    "a bracket in a line of code stays": (
        "x = f(\n    a", (1, 5), None, ["right_parenthesis"], "x = f(\n    a)",
    ),
    "backspace removes a step": ("        a", (0, 8), None, ["backspace"], "    a"),
    "lines become comments": ("a\n    b", (0, 0), (1, 5), ["ctrl+underscore"], "# a\n#     b"),
    "comments become lines": ("# a\n#     b", (0, 0), (1, 5), ["ctrl+slash"], "a\n    b"),
    "a line is duplicated": ("a\nb", (0, 1), None, ["alt+shift+down"], "a\na\nb"),
    "a line moves up": ("a\nb", (1, 0), None, ["alt+up"], "b\na"),
    "lines move down": ("a\nb\nc", (0, 0), (1, 1), ["alt+down"], "c\na\nb"),
    "the last line does not move down": ("a\nb", (1, 0), None, ["alt+down"], "a\nb"),
    "ctrl+a twice selects all": ("  a\nb", (0, 3), None, ["ctrl+a"] * 3 + ["x"], "x"),
    "ctrl+a goes to the first letter": ("  a", (0, 3), None, ["ctrl+a", "x"], "  xa"),
    "ctrl+k deletes to the end": ("abc", (0, 1), None, ["ctrl+k"], "a"),
    "a key without a meaning types nothing": ("a", (0, 1), None, ["alt+y", "alt+t"], "a"),
    "escape stays": ("a", (0, 1), None, ["escape", "b"], "ab"),
    "undo takes back a whole step": (
        "a\nb", (0, 0), (1, 1), ["ctrl+underscore", "ctrl+z"], "a\nb",
    ),
    "undo and redo": ("a\nb", (0, 0), (1, 1), ["tab", "ctrl+z", "ctrl+y"], "    a\n    b"),
}  # fmt: skip


async def test_contracts():
    async with editing("") as (editor, pilot):
        with all_cases() as case:
            for name, (text, cursor, to, keys, after) in CONTRACTS.items():
                with case(name):
                    editor.focus()
                    editor.load_text(text)
                    editor.selection = Selection(cursor, to or cursor)
                    await pilot.press(*keys)
                    await pilot.pause()
                    assert editor.text == after
                    assert editor.has_focus


async def test_the_selection_stays_on_its_text():
    async with editing("a\nb\nc", (0, 0), (1, 1)) as (editor, pilot):
        await pilot.press("tab", "tab")
        assert editor.selected_text.split() == ["a", "b"]
        await pilot.press("alt+down")
        assert editor.selected_text.split() == ["a", "b"]
        assert editor.text == "c\n        a\n        b"


async def test_the_bracket_that_belongs_to_the_one_at_the_cursor_is_known():
    async with editing("f((a), b)", (0, 1)) as (editor, _):
        assert editor.matching_bracket_location == (0, 8)


async def test_marks_stand_beside_lines_and_go_away():
    async with editing("a\nb\nc", (0, 0)) as (editor, _):
        editor.mark([2])
        lines = [editor.render_line(row).text for row in range(3)]
        assert [MARK in line for line in lines] == [False, True, False]
        assert lines[1].rstrip().endswith("b")
        editor.mark([])
        assert MARK not in editor.render_line(1).text


# --- finding ---------------------------------------------------------------------------------


async def test_find_goes_from_place_to_place_and_around():
    async with editing("jnp.sum\nx\nJNP.sum", (0, 0)) as (editor, pilot):
        await pilot.press("ctrl+f", *"jnp", "enter")
        assert editor.selection == Selection((0, 0), (0, 3))
        await pilot.press("enter")
        assert editor.selection == Selection((2, 0), (2, 3))
        await pilot.press("enter")
        assert editor.selection == Selection((0, 0), (0, 3))
        await pilot.press("escape")
        assert editor.has_focus
        await pilot.press("ctrl+f", "ctrl+u", *"JNP", "enter")
        assert editor.selection == Selection((2, 0), (2, 3))


async def test_what_is_not_there_is_told():
    async with editing("a") as (editor, pilot):
        await pilot.press("ctrl+f", *"zz", "enter")
        assert "not found" in str(pilot.app.query_one("#find-state").render())
        assert editor.text == "a"


async def test_one_place_is_replaced_at_a_time_or_all_in_one_step():
    async with editing("a b a b a", (0, 0)) as (editor, pilot):
        await pilot.press("ctrl+f", *"a", "enter", "tab", *"xy", "enter")
        assert editor.text == "xy b a b a"
        await pilot.press("alt+enter")
        assert editor.text == "xy b xy b xy"
        await pilot.press("escape", "ctrl+z")
        assert editor.text == "xy b a b a"


@pytest.mark.parametrize(("typed", "row"), [("2", 1), ("99", 2), ("0", 0)])
async def test_going_to_a_line(typed: str, row: int):
    async with editing("a\nb\nc", (0, 0)) as (editor, pilot):
        await pilot.press("ctrl+g", *typed, "enter")
        assert editor.cursor_location == (row, 0)
        assert editor.has_focus


# --- lines -----------------------------------------------------------------------------------

LINES = st.lists(st.text("ab #:([)]{}'\"\\\n\t", max_size=12).map(lambda t: t.replace("\n", "")))


@given(LINES)
def test_any_lines_can_be_edited(lines: list[str]):
    lines = [*lines, ""]
    assert next_depth(lines) >= 0
    closing_depth(lines)
    for change in (indented, dedented, toggled_comments):
        assert len(change(lines)) == len(lines)
    assert dedented(indented([line.lstrip(" ") for line in lines])) == [
        line.lstrip(" ") for line in lines
    ]
    assert all(depth(line) >= 0 for line in dedented(lines))


@given(LINES)
def test_commenting_twice_changes_nothing(lines: list[str]):
    whole = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert toggled_comments(toggled_comments(whole)) == whole


def test_a_function_is_known_by_the_lines_around_the_cursor():
    lines = (
        "import x\n\n@jit\ndef f(a):\n    def g(b):\n        return b\n\n    return g(a)\n\n\ny = 1"
    )
    lines = lines.splitlines()
    assert functions(lines) == {"f": 2, "g": 4}
    assert enclosing(lines, 0) == []
    assert enclosing(lines, 3) == ["f"]
    assert enclosing(lines, 5) == ["g", "f"]
    assert enclosing(lines, 6) == ["g", "f"]
    assert enclosing(lines, 7) == ["f"]
    assert enclosing(lines, 10) == []
