"""Completing names: from the installed libraries, and from the learner's file."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.containers import Vertical

from tutor.engine import library as engine_library
from tutor.ui.completion import completions, function_at
from tutor.ui.widgets.completion_list import CompletionList
from tutor.ui.widgets.editor import CodeEditor

REPOSITORY = Path(__file__).parents[2]


@cache
def known() -> engine_library.Library:
    found = engine_library.library()
    assert found is not None
    return found


IMPORTS = """import functools, jax
import jax.numpy as jnp
import flax.linen as nn  # layers
from jax import (
    lax,
    random as jr,
)
from jax.nn import relu

def predict(w, x):
    hidden = relu(x.reshape(-1) @ w)  # secret
    return """


def after(typed: str, code: str = IMPORTS) -> tuple[int, list[str]]:
    """Return from where names are completed, counted in `typed`, and the names."""
    whole = code + typed
    row = whole.count("\n")
    column = len(whole.split("\n")[-1])
    found = completions(whole, row, column, known())
    return found.column - column + len(typed), [one.name for one in found.found]


@pytest.mark.parametrize(
    ("typed", "column", "first"),
    [
        ("jnp.ein", 4, ["einsum", "einsum_path"]),
        ("jnp.linalg.nor", 11, ["norm"]),
        ("jax.random.spl", 11, ["split"]),
        ("jr.spl", 3, ["split"]),
        ("lax.while", 4, ["while_loop"]),
        ("nn.Dense", 3, ["DenseGeneral"]),
        ("nn.dense", 3, ["Dense", "DenseGeneral"]),
        ("optax.sg", 6, ["sgd"]),
        ("pre", 0, ["predict"]),
        ("jax.tree.map(hid", 13, ["hidden"]),
        ("x.resha", 2, ["reshape"]),
        ("(x + 1).asty", 8, ["astype"]),
        ("w['b'].ndi", 7, ["ndim"]),
        ("predict", 0, []),
        ("3.", 2, []),
        ("zzz", 0, []),
    ],
)
def test_what_fits_stands_first(typed: str, column: int, first: list[str]):
    at, found = after(typed)
    assert at == column
    assert found[: len(first)] == first
    assert bool(found) == bool(first)


def test_what_contains_the_text_comes_after_what_begins_with_it():
    _, found = after("jnp.sum")
    assert found[0] != "sum"  # it is written already
    assert found.index("cumsum") < found.index("nancumsum")
    _, found = after("jnp.stac")
    assert found[0] == "stack"
    assert {"column_stack", "hstack"} <= {*found}


def test_words_in_comments_and_strings_are_no_names():
    _, found = after("s")
    assert "secret" not in found
    _, found = after("s", 'text = "some string"\n')
    assert "string" not in found and "text" not in after("t", 'a = """text"""\n')[1]


def test_an_alias_of_the_file_counts_for_more_than_the_usual_one():
    assert "vmap" not in after("jnp.")[1]
    assert "vmap" in after("jnp.", "import jax as jnp\n")[1]


@given(st.text("import jax.np\n as frm(),'\"#:0", max_size=60), st.data())
def test_any_text_can_be_completed(code: str, data: st.DataObject):
    lines = code.split("\n")
    row = data.draw(st.integers(0, len(lines) - 1))
    column = data.draw(st.integers(0, len(lines[row])))
    found = completions(code, row, column)
    assert 0 <= found.column <= column
    assert all(one.name.isidentifier() for one in found.found)


def test_what_the_libraries_say_of_a_function():
    for code, column in (("jnp.ein", 5), ("y = jnp.einsum(x)", 10), ("jax.numpy.einsum", 0)):
        name, function = function_at(
            IMPORTS + "\n" + code, IMPORTS.count("\n") + 1, column, known()
        )
        assert name in code
        if "einsum" in code:
            assert function is not None and function.name == "jax.numpy.einsum"
            assert function.signature.startswith("(") and "Einstein" in function.about
    for code in ("jax.lax.scan(turn, x, xs", "y = jax.lax.scan(f(a)[0], (1, 2), xs[0"):
        name, function = function_at(code, 0, len(code), known())
        assert name == "jax.lax.scan" and function is not None
    over = "out = jax.lax.scan(\n    step,\n    start,\n    xs,\n)\nx = 1"
    assert function_at(over, 2, 6, known())[0] == "jax.lax.scan"
    assert function_at(over, 5, 2, known()) == ("", None)
    assert function_at("x = nothing()", 0, 6, known()) == ("nothing", None)
    assert function_at("x = 1", 0, 2, known()) == ("", None)


def test_the_names_are_read_once_for_each_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine_library.paths, "cache", lambda: tmp_path)
    assert engine_library.known_library() is None
    first = engine_library.library()
    assert first is not None and engine_library.known_library() == first
    monkeypatch.setattr(engine_library, "installed_versions", lambda: {"jax": "another"})
    assert engine_library.known_library() is None


# --- in the editor ---------------------------------------------------------------------------


class EditorApp(App[None]):
    CSS_PATH = REPOSITORY / "tutor" / "ui" / "screens" / "lesson.tcss"

    def get_css_variables(self) -> dict[str, str]:
        more = ("edge", "muted", "torch-edge", "jax-edge")
        return {**super().get_css_variables(), **dict.fromkeys(more, "#888888")}

    def compose(self) -> ComposeResult:
        self.editor = CodeEditor("", id="code")
        self.list = CompletionList(self.editor, id="names")
        self.editor.completion_list = self.list
        with Vertical():
            yield self.editor
            yield self.list

    def on_mount(self) -> None:
        self.editor.focus()


async def test_the_only_name_is_written_at_once():
    app = EditorApp()
    async with app.run_test() as pilot:
        await pilot.press(*"jax.lax.while", "ctrl+@")
        assert app.editor.text == "jax.lax.while_loop"
        assert not app.list.display
        assert app.editor.cursor_location == (0, 18)


async def test_the_first_time_the_list_opens_when_the_names_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engine_library.paths, "cache", lambda: tmp_path)
    app = EditorApp()
    async with app.run_test() as pilot:
        await pilot.press(*"jnp.ar", "ctrl+@")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.list.display and app.list.get_option_at_index(0).id == "arange"


async def test_without_the_libraries_names_of_the_file_are_completed_and_a_look_up_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engine_library.paths, "cache", lambda: tmp_path)
    monkeypatch.setattr(engine_library, "INSIDE", "tutor.checks.inside.nosuchmodule")
    app = EditorApp()
    async with app.run_test(notifications=True) as pilot:
        await pilot.press(*"result = 1", "enter", *"resul", "ctrl+@")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.editor.text == "result = 1\nresult"
        app.editor.action_look_up()
        await app.workers.wait_for_complete()
        await pilot.pause()
        (message,) = [one.message for one in app._notifications]
        assert "jaxtutor doctor" in message


async def test_a_name_is_chosen_from_the_list():
    app = EditorApp()
    async with app.run_test() as pilot:
        await pilot.press(*"jnp.ar", "ctrl+@")
        assert app.list.display and app.editor.has_focus
        first = app.list.get_option_at_index(0).id
        assert first == "arange"
        await pilot.press("down", "up", "enter")
        assert app.editor.text == "jnp.arange"
        assert not app.list.display
        await pilot.press("ctrl+z")
        assert app.editor.text == "jnp.ar"


async def test_typing_narrows_the_list_and_leaving_the_name_closes_it():
    app = EditorApp()
    async with app.run_test() as pilot:
        await pilot.press(*"jnp.", "ctrl+@")
        many = app.list.option_count
        await pilot.press(*"concat")
        await pilot.pause()
        assert app.list.display and 0 < app.list.option_count < many
        assert app.editor.text == "jnp.concat"
        await pilot.press("(")
        await pilot.pause()
        assert not app.list.display
        assert app.editor.text.startswith("jnp.concat(")


async def test_escape_closes_the_list_and_enter_is_a_new_line_again():
    app = EditorApp()
    async with app.run_test() as pilot:
        await pilot.press(*"x = jnp.", "ctrl+@", "escape")
        assert not app.list.display
        await pilot.press("enter", "y")
        assert app.editor.text == "x = jnp.\ny"


async def test_the_list_is_below_the_cursor_and_a_click_takes_a_name():
    app = EditorApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"x = jnp.ar", "ctrl+@")
        await pilot.pause()
        cursor = app.editor.cursor_screen_offset
        assert app.list.region.y == cursor.y + 1
        assert app.list.region.x <= cursor.x < app.list.region.right
        await pilot.click(app.list, offset=(3, 1))
        assert app.editor.text == "x = jnp.arccos"
        assert app.editor.has_focus


async def test_without_room_the_list_is_above_the_cursor():
    app = EditorApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.editor.load_text("\n" * 30 + "jnp.ar")
        app.editor.move_cursor(app.editor.document.end)
        await pilot.pause()
        await pilot.press("ctrl+@")
        await pilot.pause()
        cursor = app.editor.cursor_screen_offset
        assert app.list.region.bottom <= cursor.y
        assert app.list.region.y >= 0
