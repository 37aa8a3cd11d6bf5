"""The lesson screen: runs, the file, dialogs, sizes, the editor."""

import asyncio
import os
import shutil
import stat
from pathlib import Path
from textwrap import dedent

import pytest
from textual.command import CommandList
from textual.message import Message

from tests.app.conftest import Start
from tests.conftest import MINI, course
from tests.stopwatch import PATIENCE, Stopwatch
from tutor.engine.background import RunFinished
from tutor.manifest import Pack
from tutor.pack import load_pack
from tutor.ui.actions import key_of
from tutor.ui.screens.confirm_screen import ConfirmScreen
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.help_screen import HelpScreen
from tutor.ui.screens.history_screen import HistoryScreen
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.screens.notes_screen import NotesScreen
from tutor.ui.screens.solution_screen import SolutionScreen
from tutor.ui.widgets import lesson_editor
from tutor.ui.widgets.completion_list import CompletionList

ENDLESS = "def double(x):\n    while True: pass\n"
RIGHT = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def own(home: Path) -> Path:
    return home / "workspace" / "mini" / "double.py"


def _ends(message: Message) -> bool:
    """Return whether a message tells the screen that a run is over."""
    return isinstance(message, LessonScreen.RunProgressed) and isinstance(
        message.event, RunFinished
    )


# --- running -----------------------------------------------------------------------------------


async def test_a_run_uses_a_prepared_sandbox(start: Start):
    async with start(warm=True) as driver:
        await driver.open()
        await driver.until(lambda: driver.app.desk.pool is not None, "a pool")
        pool = driver.app.desk.pool
        assert pool is not None
        await driver.until(lambda: pool.ready(driver.lesson.lesson, 0), "a prepared sandbox")
        waiting = set(pool.processes().values())
        await driver.write(RIGHT)
        await driver.check()
        await driver.shows("2 of 2 checks pass")
        await driver.until(lambda: pool.ready(driver.lesson.lesson, 0), "another prepared sandbox")
        assert set(pool.processes().values()) != waiting


async def test_of_many_runs_the_last_one_counts(start: Start):
    async with start() as driver:
        await driver.open()
        for number in range(5):
            await driver.write(f"# {number}\n{ENDLESS}")
            await driver.press("run")
        await driver.write(RIGHT)
        await driver.check()
        await driver.shows("2 of 2 checks pass")


async def test_typing_does_not_wait_for_a_run_and_escape_stops_it(start: Start, patient: Pack):
    async with start(size=(120, 40), pack=patient) as driver:
        await driver.open()
        await driver.write(ENDLESS)
        await driver.press("run", "code")
        await driver.shows("▶ 0 of 2")
        await driver.press("ctrl+end", *"still_here")
        assert driver.results.running
        assert "still_here" in driver.editor.text
        await driver.press("escape")
        await driver.until(lambda: not driver.results.running, "the end of the run")
        assert driver.results.report is None
        await driver.shows("stopped")


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_a_name_is_completed_at_the_cursor(start: Start, size: tuple[int, int]):
    async with start(size=size) as driver:
        await driver.open()
        await driver.write("import jax.numpy as jnp\n\n\ndef double(x):\n    return jnp.")
        await driver.press("code")
        await driver.press("ctrl+end", "complete", *"einsu")
        names = driver.lesson.query_one(CompletionList)
        assert names.display
        await driver.shows("einsum(subscripts, /, *operands")
        assert names.region.y == driver.editor.cursor_screen_offset.y + 1
        await driver.press("enter")
        assert driver.editor.text.endswith("return jnp.einsum")
        await driver.press("ctrl+z", "complete")
        await driver.until(lambda: names.display, "the list again")
        await driver.press("escape")  # it closes only what is open
        assert not names.display and not driver.lesson.menu_is_open
        await driver.press("enter")
        assert driver.editor.text.endswith("return jnp.einsu\n")
        await driver.press("escape")
        assert driver.lesson.menu_is_open


async def test_results_appear_below_the_code_and_leave_the_cursor_there(start: Start):
    async with start(size=(80, 24)) as driver:
        await driver.open()
        await driver.write("def double(x):\n    return 3 * x\n")
        await driver.press("code")
        await driver.check()
        await driver.shows("✗ 0 of 2 checks pass")
        await driver.shows("✗ value")
        assert driver.app.focused is driver.editor
        assert driver.editor.region.height >= 4
        await driver.press("results")
        await driver.until(lambda: driver.editor.region.height == 0, "the results alone")
        await driver.press("code")
        await driver.until(lambda: driver.editor.region.height >= 4, "the code again")


async def test_endless_code_is_reported_and_the_app_goes_on(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.write(ENDLESS)
        await driver.check()
        await driver.shows("of processor time")
        await driver.press("code")
        await driver.write(RIGHT)
        await driver.check()
        await driver.shows("2 of 2 checks pass")


async def test_printed_text_is_shown_without_control_sequences(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.write("print('[red]look[/red] \\x1b[2J at me')\n" + RIGHT)
        await driver.check()
        await driver.shows("[red]look[/red] ␛[2J at me")


@pytest.mark.parametrize("turns", range(4))
async def test_quitting_while_the_lesson_opens_is_not_an_error(start: Start, turns: int):
    """As on a machine that is slow to build the screen."""
    async with start() as driver:
        driver.app.open_lesson("double")
        for _ in range(turns):
            await asyncio.sleep(0)


async def test_quitting_during_a_run_leaves_no_sandbox(start: Start):
    from tests.sandbox.test_faults import children

    async with start() as driver:
        await driver.open()
        await driver.write(ENDLESS)
        await driver.press("run")
        await driver.until(lambda: bool(children()), "a sandbox")
        await driver.press("quit")
    assert not children()


# --- the file ----------------------------------------------------------------------------------


async def test_a_change_by_another_editor_is_loaded(start: Start, own: Path):
    async with start() as driver:
        await driver.open()
        before = driver.editor.text
        own.write_text("# from elsewhere\n")
        await driver.until(lambda: driver.editor.text == "# from elsewhere\n", "the other text")
        await driver.notifies("another program changed the file")
        await driver.press("code", "ctrl+z")
        await driver.until(lambda: own.read_text() == before, "undone, and saved")


async def test_conflicting_changes_are_backed_up(start: Start, own: Path):
    async with start() as driver:
        await driver.open()
        own.write_text("# from elsewhere\n")
        await driver.write("# from here\n")
        await driver.until(lambda: own.read_text() == "# from here\n", "saved")
    (backup,) = (own.parent / "backups").iterdir()
    assert backup.read_text() == "# from elsewhere\n"


async def test_a_file_that_is_not_text_is_set_aside(start: Start, own: Path):
    own.parent.mkdir(parents=True)
    own.write_bytes(b"\xff\xfe precious")
    async with start() as driver:
        await driver.open()
        await driver.notifies("byte 0xff is not UTF-8")
        assert "NotImplementedError" in driver.editor.text
    (backup,) = (own.parent / "backups").iterdir()
    assert backup.read_bytes() == b"\xff\xfe precious"


async def test_code_that_cannot_be_saved_stays_and_can_be_checked(start: Start, own: Path):
    async with start() as driver:
        await driver.open()
        own.unlink()
        own.parent.rmdir()
        own.parent.write_text("a file in place of the directory")
        await driver.write(RIGHT)
        await driver.until(lambda: "not saved" in driver.text, "the warning")
        await driver.check()
        assert driver.results.report is not None
        assert driver.results.report.verdict == "pass"
        own.parent.unlink()
        await driver.press("code", "ctrl+end", "enter")
        await driver.until(own.exists, "saved again")


async def test_reset_asks_and_keeps_a_backup(start: Start, own: Path):
    async with start() as driver:
        await driver.open()
        await driver.write("# hours of work\n")
        await driver.press("reset")
        await driver.on(ConfirmScreen)
        await driver.press("escape")
        assert driver.editor.text == "# hours of work\n"
        await driver.press("reset", "y")
        await driver.until(lambda: "NotImplementedError" in driver.editor.text, "the starter")
    (backup,) = (own.parent / "backups").iterdir()
    assert backup.read_text() == "# hours of work\n"


async def test_the_learners_own_editor(
    start: Start, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    script = tmp_path / "my editor"
    script.write_text("#!/bin/sh\necho '# edited' > \"$2\"\necho $1 > " + str(tmp_path / "flag"))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", f"'{script}' --wait")
    async with start() as driver:
        await driver.open()
        # The test driver has no terminal to suspend; the rest of the path runs.
        monkeypatch.setattr(type(driver.app._driver), "can_suspend", True, raising=False)
        await driver.press("editor")
        await driver.until(lambda: driver.editor.text == "# edited\n", "the edited text")
    assert (tmp_path / "flag").read_text() == "--wait\n"


async def test_without_an_editor_a_notification_says_how_to_set_one(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with start() as driver:
        await driver.open()
        monkeypatch.setenv("PATH", str(tmp_path))
        await driver.press("editor")
        await driver.notifies("export EDITOR=")


async def test_an_editor_with_a_window_does_not_suspend_the_app(
    start: Start, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    script = tmp_path / "code"
    script.write_text(f"#!/bin/sh\necho \"$@\" > {tmp_path}/said.new\n"
                      f"mv {tmp_path}/said.new {tmp_path}/said\n")  # fmt: skip
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(script))
    async with start() as driver:  # its driver cannot suspend
        await driver.open()
        await driver.press("down", "editor")
        await driver.notifies("opened with code")
        await driver.until((tmp_path / "said").exists, "the editor")
        line = driver.editor.cursor_location[0] + 1
    assert (tmp_path / "said").read_text() == f"-g {own}:{line}\n"


# --- hints, solution, help ---------------------------------------------------------------------


async def test_hints_come_one_at_a_time_and_can_be_read_again(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.press("code", "hint")
        await driver.shows("Hint 1 of 2")
        await driver.shows(f"{key_of('hint')}: the next hint")
        await driver.press("ctrl+home", "x")
        assert driver.editor.text.startswith("x")
        assert driver.editor.region.height >= 4
        await driver.press("hint")
        await driver.shows("Hint 2 of 2")
        await driver.press("hint")
        await driver.shows("Add it to itself")
        await driver.press("hint")
        await driver.shows("Hint 2 of 2")
        await driver.press("close_hint")
        await driver.until(lambda: "Hint 2 of 2" not in driver.text, "no hint")
        await driver.press("hint")
        await driver.shows("Hint 2 of 2")
        await driver.pilot.click("#hint-keys", offset=(len(f" {key_of('hint')}: the first"), 0))
        await driver.shows("Hint 1 of 2")


async def test_the_solution_before_passing_asks_first(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.press("solution")
        await driver.on(ConfirmScreen)
        await driver.press("n")
        await driver.on(LessonScreen)
        await driver.press("solution", "y")
        await driver.on(SolutionScreen)
        await driver.shows("+     return 2 * x")
        await driver.shows("-     raise NotImplementedError")


async def test_every_action_is_in_the_help_and_in_the_palette(start: Start):
    async with start(size=(100, 50)) as driver:
        await driver.open()
        await driver.press("help")
        await driver.on(HelpScreen)
        for action in LessonScreen.ACTIONS:
            words = action.help[:30]
            await driver.until(lambda words=words: words in " ".join(driver.text.split()), words)
        await driver.press("escape")
        titles = [command.title for command in driver.app.get_system_commands(driver.app.screen)]
        for action in LessonScreen.ACTIONS:
            assert any(title.startswith(action.label) for title in titles)


async def test_the_help_knows_where_the_focus_is(start: Start):
    async with start(size=(100, 90)) as driver:
        await driver.open()
        await driver.press("code", "help")
        await driver.shows("Duplicate the selected lines.")
        assert "Copy this result." not in driver.text
        await driver.press("escape")
        await driver.write("def double(x):\n    return 3 * x\n")
        await driver.check()
        await driver.press("results", "help")
        await driver.shows("Copy this result.")
        assert "Duplicate the selected lines." not in driver.text


async def test_the_palette_runs_what_it_lists(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.press("palette", *"hint")
        await driver.shows("Show the next hint")
        found = driver.app.screen.query_one(CommandList)
        await driver.until(
            lambda: (
                found.highlighted == 0 and "next hint" in str(found.get_option_at_index(0).prompt)
            ),
            "the entry to be chosen",
        )
        await driver.press("enter")
        await driver.shows("Hint 1 of")


# --- after a verdict ---------------------------------------------------------------------------

WRONG = "def double(x):\n    return 3 * x\n"
ADVICE = """
failure_hints:
  - fails: value
    hint: What is the **multiplier**?
after_pass: |
  You can double.
"""


@pytest.fixture
def advised(tmp_path: Path) -> Pack:
    """The small pack, with a hint for a failure and a long text after a pass."""
    shutil.copytree(MINI, tmp_path / "advised" / "lessons")
    root = tmp_path / "advised" / "lessons"
    more = "".join(f"\n  Paragraph {number}.\n" for number in range(40))
    with (root / "basics" / "double.yaml").open("a") as file:
        file.write(ADVICE + more)
    return load_pack(root)


async def test_the_text_after_a_pass_can_be_read_with_the_keyboard(start: Start, advised: Pack):
    async with start(pack=advised) as driver:
        await driver.open()
        await driver.write(WRONG)
        await driver.check()
        await driver.shows("0 of 2 checks pass")
        assert "You can double." not in driver.text
        await driver.press("code")
        await driver.write(RIGHT)
        await driver.check()
        card = driver.results.pass_card
        await driver.until(lambda: driver.app.focused is card, "the card has the focus")
        await driver.press("results")
        await driver.shows("You can double.")
        assert driver.app.focused is card
        await driver.press("end")
        await driver.shows("Paragraph 39.")
        await driver.shows("✓ value")
        await driver.press("home")
        await driver.shows("Passed after 2 tries, without hints.")
        await driver.press("code")
        await driver.write(WRONG)
        await driver.check()
        await driver.shows("0 of 2 checks pass")
        await driver.press("end")
        await driver.pilot.pause(0.2)
        assert "Paragraph" not in driver.text


async def test_enter_goes_on_after_a_pass_unless_something_was_typed(
    start: Start, monkeypatch: pytest.MonkeyPatch
):
    held: list[Message] = []
    async with start() as driver:
        await driver.open()
        await driver.write(RIGHT)
        monkeypatch.setattr(driver.lesson, "_post", held.append)
        await driver.press("run")
        await driver.until(lambda: any(_ends(message) for message in held), "the run is over")
        await driver.press("code", "space")
        for message in held:
            driver.lesson.post_message(message)
        await driver.until(lambda: driver.results.report is not None, "a report")
        await driver.shows("Passed at the first try, without hints.")
        assert driver.app.focused is driver.editor
        await driver.press("results", "next_lesson")
        await driver.on_lesson("tall")


async def test_a_syntax_error_is_shown_with_its_place_and_leads_there(start: Start):
    async with start(size=(120, 40)) as driver:
        await driver.open()
        await driver.write("def double(x):\n    return (2 * x\n")
        await driver.check()
        await driver.shows("line 2, column 12: SyntaxError: '(' was never closed")
        lines = driver.text.splitlines()
        source = next(n for n, line in enumerate(lines) if "2 │     return (2 * x" in line)
        assert lines[source + 1].index("^") == lines[source].index("(2 * x")
        await driver.press("results", "go_to")
        await driver.until(lambda: driver.editor.cursor_location[0] == 1, "the line")


async def test_the_hint_for_the_last_failure_comes_first(start: Start, advised: Pack):
    async with start(pack=advised) as driver:
        await driver.open()
        await driver.write(WRONG)
        await driver.check()
        await driver.shows(f"· {key_of('hint')}: a hint for this")
        await driver.press("results", "end")
        await driver.shows(f"Stuck here? {key_of('hint')} shows a hint for this.")
        assert "multiplier" not in driver.text
        await driver.press("hint")
        await driver.shows("Hint for this failure")
        await driver.shows("What is the multiplier?")
        await driver.press("hint")
        await driver.shows("Hint 1 of 2")
        await driver.press("hint")
        await driver.shows("Hint 2 of 2")
        await driver.press("close_hint")
        await driver.write(RIGHT)
        await driver.check()
        await driver.shows("2 of 2 checks pass")
        assert "Stuck here?" not in driver.text
        await driver.press("hint")
        await driver.shows("Hint 2 of 2")


# --- history -----------------------------------------------------------------------------------


async def test_an_attempt_is_restored_and_nothing_is_lost(start: Start, home: Path):
    own = home / "workspace" / "mini" / "double.py"
    async with start() as driver:
        await driver.open()
        await driver.press("code", "menu", "o")
        await driver.until(lambda: "no attempts yet" in driver.notifications, "a notice")
        await driver.write(WRONG)
        await driver.check()
        await driver.write("def double(x):\n    return x + x  # half done\n")
        await driver.press("menu", "o")
        await driver.on(HistoryScreen)
        await driver.shows("0 of 2")
        await driver.shows("+     return 3 * x")
        await driver.shows("-     return x + x  # half done")
        await driver.press("restore")
        await driver.on(LessonScreen)
        await driver.until(lambda: own.read_text() == WRONG, "the attempt in the file")
        assert driver.editor.text == WRONG
        await driver.press("menu", "o")
        await driver.on(HistoryScreen)
        await driver.shows("not checked")
        await driver.press("back")
        await driver.on(LessonScreen)
        driver.editor.undo()
        await driver.until(lambda: "half done" in own.read_text(), "it was undone")


async def test_notes_are_saved_while_they_are_written_and_shown_with_the_lesson(
    start: Start, home: Path
):
    file = home / "workspace" / "mini" / "double.notes.md"
    async with start() as driver:
        await driver.open()
        await driver.press("menu", "t")
        await driver.on(NotesScreen)
        await driver.press(*"twice")
        await driver.until(lambda: file.exists() and file.read_text() == "twice", "the file")
        await driver.press(*" as much", "close_notes")
        await driver.on(LessonScreen)
        assert file.read_text() == "twice as much"
        await driver.shows("Your notes")
        await driver.shows("twice as much")
    file.write_bytes(b"\xff\xfe")
    async with start() as driver:
        await driver.open()
        await driver.press("menu", "t")
        await driver.notifies("not UTF-8; mend or move it")
    assert file.read_bytes() == b"\xff\xfe"


# --- the terminal ------------------------------------------------------------------------------


async def test_panes_follow_the_width(start: Start):
    panes = ("torch", "brief", "code", "results")
    async with start() as driver:
        await driver.open()
        await driver.press("code")
        for size, shown in (
            ((80, 24), {"torch", "code", "results"}),
            ((109, 35), {"torch", "code", "results"}),
            ((110, 35), {*panes}),
            ((169, 50), {*panes}),
            ((170, 50), {*panes}),
        ):
            await driver.pilot.resize_terminal(*size)
            await driver.pilot.pause()
            assert shown == {
                name for name in panes if driver.lesson.query_one(f"#{name}").region.area > 0
            }
            torch, code = driver.lesson.torch.region, driver.editor.region
            assert (torch.right <= code.x) == (size[0] >= 110)
            assert (code.right <= driver.results.region.x) == (size[0] >= 170)


async def test_keys_go_to_panes_in_a_narrow_terminal(start: Start):
    async with start() as driver:
        await driver.open()
        for pane, words in {
            "code": "raise NotImpl",
            "results": f"Press {key_of('run')}",
            "brief": "Write double(x)",
        }.items():
            await driver.press(pane)
            await driver.shows(words)
            await driver.shows("return 2 * x")  # the PyTorch, always


async def test_a_pane_alone_and_all_again(start: Start):
    async with start(size=(120, 40)) as driver:
        await driver.open()
        for pane in ("torch", "code", "results", "brief"):
            await driver.press(pane)
            await driver.press("menu", "z")
            shown = driver.lesson.query_one(f"#{pane}")
            await driver.until(lambda shown=shown: shown.region.width >= 119, f"{pane} alone")
            await driver.press("menu", "z")
            await driver.until(lambda shown=shown: shown.region.width < 119, "all of them")


async def test_the_menu_does_what_its_letters_say_and_types_nothing(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.press("code")
        before = driver.editor.text
        await driver.press("menu")
        await driver.shows("s Solution")
        await driver.press("1")  # no letter of the menu: it closes
        await driver.until(lambda: not driver.lesson.menu_is_open, "the menu closed")
        await driver.press("menu", "menu", "ctrl+home", "x")
        await driver.until(lambda: driver.editor.text == "x" + before, "a letter as usual")
        await driver.press("menu", "slash")
        await driver.until(lambda: driver.editor.text == "# x" + before, "a comment")
        await driver.press("alt+h")
        await driver.shows("Hint 1 of")
        await driver.press("close_hint")
        await driver.until(lambda: "Hint 1 of" not in driver.text, "no hint")
        await driver.press("menu", "b")
        await driver.until(lambda: driver.lesson.has_class("show-brief"), "the brief")
        assert driver.editor.text == "# x" + before


async def test_a_result_leads_to_its_line_and_can_be_folded_and_copied(start: Start):
    async with start(size=(120, 40)) as driver:
        await driver.open()
        await driver.write("def double(x):\n    y = x.no_such_thing\n    return y\n")
        await driver.check()
        await driver.shows("● ")
        await driver.press("results")
        await driver.shows("Enter: line 2")
        await driver.press("y")
        await driver.until(lambda: "no_such_thing" in driver.app.clipboard, "a copy")
        await driver.press("space")
        await driver.until(lambda: "Enter: line 2" not in driver.text, "it folded")
        await driver.press("enter")
        await driver.until(lambda: driver.editor.cursor_location[0] == 1, "the line")
        assert driver.app.focused is driver.editor


async def test_keys_move_through_the_slices_of_a_wrong_array(start: Start, tmp_path: Path):
    shutil.copytree(MINI, tmp_path / "deep" / "lessons")
    lesson = tmp_path / "deep" / "lessons" / "basics" / "double.yaml"
    lesson.write_text(lesson.read_text().replace("normal(3, 4)", "normal(2, 3, 4)"))
    wrong = "def double(x):\n    return x.at[1, 0, 0].add(1.0) * 2\n"
    async with start(size=(120, 40), pack=load_pack(tmp_path / "deep" / "lessons")) as driver:
        await driver.open()
        await driver.write(wrong)
        await driver.check()
        await driver.shows("other slices")
        await driver.press("results")
        await driver.shows("[1, :, :]")
        await driver.press("right")
        await driver.shows("[0, :, :]")
        await driver.press("left")
        await driver.shows("[1, :, :]")


async def test_what_is_not_written_yet_is_no_failure(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.press("code")
        await driver.check()
        await driver.shows("○ 0 of 2 checks pass · the rest is still to be written")
        await driver.shows("○ value  not written yet")
        assert not driver.results.has_class("-failed")


async def test_the_torch_pane_follows_the_function_at_the_cursor(start: Start, tmp_path: Path):
    shutil.copytree(MINI, tmp_path / "long" / "lessons")
    lesson = tmp_path / "long" / "lessons" / "basics" / "double.yaml"
    more = "".join(f"\n  def other{number}(x):\n      return x\n" for number in range(20))
    written = lesson.read_text()
    lesson.write_text(written.replace("      return 2 * x\n", f"      return 2 * x\n{more}"))
    async with start(pack=load_pack(tmp_path / "long" / "lessons")) as driver:
        await driver.open()
        await driver.press("code")
        await driver.shows("def double(x):")
        await driver.write("def other15(x):\n    return x\n\n\ndef double(x):\n    return 1\n")
        driver.editor.move_cursor((1, 4))
        await driver.shows("other15 · 17 of 21")
        lines = driver.text.splitlines()
        assert lines[2].strip() == "def other15(x):"
        driver.editor.move_cursor((5, 4))
        await driver.shows("double · 1 of 21")


def test_the_pytorch_of_every_lesson_begins_with_code():
    """Its pane shows the first lines: they must not be blank."""
    torch = {name: course().lesson(name).torch for name in course().lessons}
    assert [name for name, code in torch.items() if code and not code.splitlines()[0].strip()] == []


async def test_a_damaged_progress_database_is_reported(start: Start, home: Path):
    database = home / "data" / "progress.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(os.urandom(8192))
    async with start() as driver:
        await driver.until(lambda: "was damaged" in driver.text, "the warning")
        await driver.on(CourseScreen)
    assert list(database.parent.glob("progress-damaged-*.db"))


async def test_two_apps_at_once(start: Start):
    async with start() as one, start() as other:
        await one.open()
        await other.open()
        await one.write(RIGHT)
        await one.check()
        await other.until(lambda: other.editor.text == RIGHT, "the text of the other")
        await other.check()
        assert other.results.report is not None
        assert other.results.report.passed


async def test_a_lesson_that_requires_what_is_missing_is_skipped(start: Start, tmp_path: Path):
    folder = Path(shutil.copytree(MINI.parent, tmp_path / "requiring")) / "lessons"
    lesson = folder / "basics" / "double.yaml"
    requires = "requires: [nothing-of-this-name]\nminutes:"
    lesson.write_text(lesson.read_text().replace("minutes:", requires))
    needs = "needs nothing-of-this-name; run: pip install nothing-of-this-name"
    async with start(size=(200, 50), pack=load_pack(folder)) as driver:
        await driver.open()
        await driver.notifies(f"This lesson is skipped here: it {needs}")
        await driver.write(RIGHT)
        await driver.check()
        assert driver.results.report is not None and driver.results.report.skipped == needs
        await driver.shows("– skipped")
        await driver.shows("Skipped: the lesson needs")
        assert not driver.app.desk.passed(driver.lesson.lesson)


# --- the editor --------------------------------------------------------------------------------


async def test_the_editor_indents_while_typing(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.press("code")
        await driver.write("")
        await driver.press(*"def", "space", *"f", "left_parenthesis", "right_parenthesis", "colon")
        await driver.press("enter", *"return", "space", "1", "enter", *"x")
        typed = "def f():\n    return 1\nx"
        await driver.until(lambda: driver.editor.text == typed, "the typed text")
        await driver.press("enter", "tab", "backspace", *"y")
        await driver.until(lambda: driver.editor.text.endswith("\ny"), "the typed text")


async def test_the_losses_of_a_training_are_shown_while_it_runs(start: Start, tmp_path: Path):
    lesson = """
        id: fit
        title: A training
        track: basics
        minutes: 1
        brief: Write train.
        torch: |
          def train(w):
              return [w * 0.5 ** step for step in range(3)]
        starter: |
          def step(n): ...

          def train(w): ...
        hints: [none]
        inputs: {w: normal()}
        limits: {seconds: 600}
        checks:
          - {name: training, learns: train(w), watch: step}
    """
    shutil.copytree(MINI.parent, tmp_path / "training")
    root = tmp_path / "training" / "lessons"
    (root / "basics" / "fit.yaml").write_text(dedent(lesson))
    manifest = root / "pack.yaml"
    manifest.write_text(manifest.read_text().replace("lessons: [double", "lessons: [fit, double"))
    code = """
        import time

        def step(n):
            return 1.0 / (1 + n)

        def train(w):
            n = 0
            while True:
                step(n)
                n += 1
                time.sleep(0.01)
    """
    async with start(pack=load_pack(root)) as driver:
        await driver.open("fit")
        await driver.write(dedent(code))
        await driver.press("run")
        await driver.shows("step ")
        await driver.shows("loss 0.0")  # it falls
        assert "█" in driver.text
        await driver.press("escape")
        await driver.until(lambda: not driver.results.running, "the end of the run")


async def test_a_failure_leads_to_its_whole_explanation(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.write(
            "import jax.numpy as jnp\n\n\ndef double(x):\n    return x.unsqueeze(0)\n"
        )
        await driver.check()
        await driver.press("results", "explain_result")
        await driver.shows("Fails:")
        assert "unsqueeze" in driver.text
        await driver.press("escape")
        await driver.shows("more")


async def test_the_function_at_the_cursor_is_looked_up(start: Start):
    async with start() as driver:
        await driver.open()
        for code, shown in (
            ("import jax\n\njax.lax.scan", "jax.lax.scan(f, init, xs=None"),
            ("import jax.numpy as jnp\n\ny = jnp.where", "jax.numpy.where(condition, x=None"),
            ("from flax import nnx\n\nlayer = nnx.Linear", "flax.nnx.Linear(in_features"),
        ):
            await driver.write(code)
            await driver.press("code", "ctrl+end", "escape", "y")
            await driver.shows(shown)
            await driver.press("escape")
            await driver.on(LessonScreen)
            assert driver.editor.text.rstrip() == code.rstrip()
        for code, notified in (
            ("x = 1\n", "Put the cursor on a function such as jax.lax.scan"),
            ("x = 1\nx", "Nothing is known of x. Put the cursor on a function"),
        ):
            await driver.write(code)
            await driver.press("code", "ctrl+end", "escape", "y")
            await driver.notifies(notified)


async def test_results_are_called_old_once_the_code_is_edited(start: Start):
    async with start() as driver:
        await driver.open()
        await driver.write(WRONG)
        await driver.check()
        await driver.shows("0 of 2 checks pass")
        assert "edited since" not in driver.text
        await driver.press("code", "space")
        await driver.shows("edited since")
        await driver.check()
        await driver.until(lambda: "edited since" not in driver.text, "new results")


async def test_what_was_typed_last_is_checked_at_once(start: Start):
    async with start() as driver:
        await driver.open()
        document = driver.editor.document
        driver.editor.replace(RIGHT, document.start, document.end)
        driver.lesson.action_run()  # before the editor's message has arrived
        await driver.until(lambda: driver.results.report is not None, "a report")
        assert driver.results.report is not None and driver.results.report.passed


async def test_a_hint_that_is_longer_than_its_pane_is_read_with_its_key(
    start: Start, tmp_path: Path
):
    folder = Path(shutil.copytree(MINI.parent, tmp_path / "long")) / "lessons"
    lesson = folder / "basics" / "double.yaml"
    long = " ".join(f"word{number}" for number in range(400))
    text = lesson.read_text()
    assert "hints: [" in text
    lesson.write_text(text.replace("hints: [", f"hints: ['{long}', ", 1))
    async with start(pack=load_pack(folder)) as driver:
        await driver.open()
        await driver.press("code", "hint")
        await driver.shows(f"{key_of('hint')}: the rest of this hint")
        for _ in range(40):
            if "the next hint" in driver.text:
                break
            await driver.press("hint")
        await driver.shows("word399")
        await driver.press("hint")
        await driver.shows("Hint 2 of")


async def test_somebody_who_types_on_is_saved_all_the_same(
    start: Start, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lesson_editor, "SAVE_AFTER", 1e6)  # as if no key were the last one
    async with start() as driver:
        await driver.open()
        await driver.press("code", "ctrl+end")
        own = home / "workspace" / "mini" / "double.py"
        watch = Stopwatch()
        while "aaa" not in own.read_text():
            await driver.pilot.press("a")
            assert watch.seconds < PATIENCE
