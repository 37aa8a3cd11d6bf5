"""The app and `check` in a terminal, and what `watch` does with a save."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TextIO, cast

from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from benchmarks.packs import make_pack
from tests.conftest import MINI
from tests.sandbox.processes import alive, descendants
from tests.stopwatch import until as wait_for
from tests.terminal.screen import Terminal, jaxtutor
from tutor.ui.actions import ACTIONS
from tutor.ui.driver import QuietFile

RIGHT = "def double(x):\n    return 2 * x\n"
ENDLESS = "def double(x):\n    while True: pass\n"


def app(**more: str) -> Terminal:
    return jaxtutor("--pack", str(MINI), **more)


def endless(terminal: Terminal, own: Path) -> None:
    """Make the app check code that never ends."""
    terminal.until("0 of 2 passed")
    terminal.press("enter")
    terminal.until("Twice as much  ·  1/2")
    own.write_text(ENDLESS)
    terminal.press("code")
    terminal.until("while True")
    terminal.press("run")


def test_the_whole_way_by_keyboard(home: Path, own: Path):
    with app() as terminal:
        terminal.until("0 of 2 passed")
        terminal.press("enter")
        terminal.until("Twice as much  ·  1/2")
        terminal.press("code")
        terminal.until("raise NotImplementedError")
        terminal.press("run")
        terminal.until("0 of 2 checks pass")
        terminal.until("not written yet")
        terminal.press("hint")
        terminal.until("Hint 1 of 2")
        terminal.press("escape")
        terminal.until(lambda text: "Hint 1" not in text)

        # Down to the line, away with it, and a wrong one instead.
        terminal.press("code", "down", "down", "down", "\x05", "\x15", "    return 3 * x")
        terminal.until("return 3 * x")
        terminal.press("run")
        terminal.until("largest difference")
        terminal.until("every number is 1.5 times the expected one")
        terminal.press("code", "\x15", "    return x + x")
        terminal.until("return x + x")
        terminal.press(ACTIONS["run"].keys.split(",")[1])
        terminal.until("2 of 2 checks pass")
        terminal.press("next")
        terminal.until("Upright")
        terminal.press("quit")
        assert terminal.wait() == 0
    assert "return x + x" in own.read_text()

    with app() as terminal:
        terminal.until("Upright  ·  2/2")
        terminal.press("course")
        terminal.until("1 of 2 passed")
        terminal.press("quit")
        assert terminal.wait() == 0


def test_closing_the_terminal_during_a_run_saves_and_ends_everything(home: Path, own: Path):
    with app() as terminal:
        endless(terminal, own)
        terminal.until("… value")
        worker = wait_for(lambda: descendants(terminal.pid))
        terminal.press("code", "ctrl+end", "# the last words")
        terminal.until("# the last words")
        terminal.hang_up()
    wait_for(lambda: not any(map(alive, [terminal.pid, *worker])))
    assert own.read_text() == ENDLESS + "# the last words"
    with app() as terminal:
        terminal.until("Twice as much  ·  1/2")
        terminal.until("# the last words")


def test_closing_the_terminal_right_after_the_first_screen_ends_the_app(home: Path):
    with app() as terminal:
        terminal.until("of 2 passed")
        terminal.hang_up()
        wait_for(lambda: not alive(terminal.pid))


def test_output_to_a_closed_terminal_blocks_nothing():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(os.dup(writer), "w") as file:
        thread = WriterThread(cast(TextIO, QuietFile(file)))
        thread.start()
        for _ in range(3 * MAX_QUEUED_WRITES):
            thread.write("words")
        thread.stop()
        os.close(writer)
        with suppress(OSError):
            file.close()


def test_sigterm_during_a_run_leaves_no_directory(own: Path, tmp_path: Path):
    private = tmp_path / "private"
    private.mkdir()
    with app(TMPDIR=str(private)) as terminal:
        endless(terminal, own)
        terminal.until("… value")
        wait_for(lambda: [*private.glob("jaxtutor-*")])
        os.kill(terminal.pid, 15)
        assert terminal.wait() == 143
    assert not [*private.glob("jaxtutor-*")]


def test_the_app_can_be_killed_at_any_moment(home: Path, own: Path):
    with app() as terminal:
        endless(terminal, own)
        workers = wait_for(lambda: descendants(terminal.pid))
        os.kill(terminal.pid, 9)
    wait_for(lambda: not any(map(alive, workers)))
    assert own.read_text() == ENDLESS
    with app() as terminal:
        terminal.until("Twice as much  ·  1/2")


def test_colour_follows_the_terminal_and_no_color(own: Path):
    def raw(**more: str) -> bytes:
        with jaxtutor("check", "tall", "--pack", str(MINI), **more) as terminal:
            terminal.wait()
            return terminal.raw

    assert b"\x1b[" in raw()
    plain = raw(NO_COLOR="1")
    assert b"\x1b[3" not in plain
    assert "✗".encode() in plain


def test_a_save_replaces_the_current_run(own: Path):
    own.write_text(ENDLESS)
    with jaxtutor("watch", "double", "--pack", str(MINI)) as terminal:
        wait_for(lambda: descendants(terminal.pid))
        own.write_text(RIGHT)
        text = terminal.until("2 of 2 checks pass")
        assert "processor time" not in text
        terminal.interrupt()
        assert terminal.wait() == 130


def test_ctrl_c_during_a_check_leaves_nothing(own: Path):
    own.write_text(ENDLESS)
    with jaxtutor("check", "double", "--pack", str(MINI)) as terminal:
        workers = wait_for(lambda: descendants(terminal.pid))
        terminal.interrupt()
        assert terminal.wait() == 130
        assert "Traceback" not in terminal.text
    wait_for(lambda: not any(map(alive, workers)))


def test_a_large_pack_opens_at_once(home: Path, tmp_path: Path):
    root = make_pack(tmp_path / "pack", 1000)
    (home / "cache").unlink()  # so no pack is cached
    with jaxtutor("--pack", str(root), columns=120, rows=40) as terminal:
        terminal.until("0 of 1000 passed")
        terminal.press("\x1b[F")
        terminal.until("lesson-00999")
        terminal.until("Batches, lesson 00999")
        terminal.press("enter")
        terminal.until("Batches, lesson 00999  ·  1000/1000")
        terminal.press("quit")
        assert terminal.wait() == 0
    with jaxtutor("--pack", str(root), columns=120, rows=40) as terminal:
        terminal.until("Batches, lesson 00999  ·  1000/1000")


def test_a_broken_manifest_is_reported_before_the_app_starts(home: Path, tmp_path: Path):
    (tmp_path / "pack.yaml").write_text("format: 1\nid: x\ntitle: X\ntracks: []\n")
    with jaxtutor("--pack", str(tmp_path)) as terminal:
        assert terminal.wait() == 2
        # The path may be so long that the line is wrapped.
        assert "4:9: tracks: must be a non-empty list" in terminal.text.replace("\n", "")


def test_make_run_starts_the_app(home: Path):
    repository = Path(__file__).parents[2]
    with Terminal("make", "--no-print-directory", "-C", str(repository), "run") as terminal:
        terminal.until("From PyTorch to JAX")
        terminal.press("quit")
        assert terminal.wait() == 0
