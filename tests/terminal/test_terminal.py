"""The doors in a real terminal: the app and `watch`."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from benchmarks.packs import make_pack
from tests.conftest import MINI
from tests.terminal.screen import PATIENCE, Terminal, jaxtutor

T = TypeVar("T")

RIGHT = "def double(x):\n    return 2 * x\n"
ENDLESS = "def double(x):\n    while True: pass\n"


@pytest.fixture
def own(home: Path) -> Path:
    return home / "workspace" / "mini" / "double.py"


def app(**more: str) -> Terminal:
    return jaxtutor("--pack", str(MINI), **more)


def test_the_whole_way_by_keyboard(home: Path, own: Path):
    with app() as terminal:
        terminal.until("0 of 2 passed")
        terminal.press("enter")
        terminal.until("Twice as much  ·  1/2")
        terminal.press("f3")
        terminal.until("raise NotImplementedError")
        terminal.press("f5")
        text = terminal.until("0 of 2 checks pass")
        assert "`double` is still to be written" in text
        terminal.press("f6")
        terminal.until("Hint 1 of 2")
        terminal.press("escape")
        terminal.until(lambda text: "Hint 1" not in text)

        # Down to the line, away with it, and a wrong one instead.
        terminal.press("f3", "down", "down", "down", "\x05", "\x15", "    return 3 * x")
        terminal.until("return 3 * x")
        terminal.press("f5")
        text = terminal.until("largest difference")
        assert re.search(r"\[\d, \d\]\s+-?\d", text), "expected beside actual"
        terminal.press("f3", "\x15", "    return x + x")
        terminal.until("return x + x")
        terminal.press("ctrl+r")
        terminal.until("2 of 2 checks pass")
        terminal.press("f8")
        terminal.until("Upright")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
    assert "return x + x" in own.read_text()

    with app() as terminal:
        terminal.until("Upright  ·  2/2")
        terminal.press("f10")
        terminal.until("1 of 2 passed")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0


def test_a_terminal_that_closes_in_the_middle_of_a_run(home: Path, own: Path):
    with app() as terminal:
        terminal.until("0 of 2 passed")
        terminal.press("enter")
        terminal.until("Twice as much  ·  1/2")
        own.write_text(ENDLESS)
        terminal.press("f3")
        terminal.until("while True")
        terminal.press("f5")
        terminal.until("… value")
        worker = wait_for(lambda: children_of(terminal.pid))
        terminal.press("f3", "ctrl+end", "# the last words")
        terminal.until("# the last words")
        terminal.hang_up()
    wait_for(lambda: not alive([terminal.pid, *worker]))
    assert own.read_text() == ENDLESS + "# the last words"
    with app() as terminal:
        terminal.until("Twice as much  ·  1/2")
        terminal.until("# the last words")


def test_the_app_can_be_killed_at_any_moment(home: Path, own: Path):
    with app() as terminal:
        terminal.until("0 of 2 passed")
        terminal.press("enter")
        terminal.until("Twice as much  ·  1/2")
        own.write_text(ENDLESS)
        terminal.press("f3")
        terminal.until("while True")
        terminal.press("f5")
        workers = wait_for(lambda: children_of(terminal.pid))
        os.kill(terminal.pid, 9)
    wait_for(lambda: not alive(workers))
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


def test_watch_checks_every_save(own: Path):
    with jaxtutor("watch", "double", "--pack", str(MINI)) as terminal:
        terminal.until("0 of 2 checks pass")
        own.write_text(RIGHT)
        terminal.until("2 of 2 checks pass")
        terminal.interrupt()
        assert terminal.wait() == 130
        assert "Traceback" not in terminal.text


def test_a_save_replaces_the_run_that_is_going_on(own: Path):
    own.parent.mkdir(parents=True)
    own.write_text(ENDLESS)
    with jaxtutor("watch", "double", "--pack", str(MINI)) as terminal:
        wait_for(lambda: children_of(terminal.pid))
        own.write_text(RIGHT)
        text = terminal.until("2 of 2 checks pass")
        assert "took longer" not in text
        terminal.interrupt()
        assert terminal.wait() == 130


def test_ctrl_c_in_the_middle_of_a_check_leaves_nothing(own: Path):
    own.parent.mkdir(parents=True)
    own.write_text(ENDLESS)
    with jaxtutor("check", "double", "--pack", str(MINI)) as terminal:
        workers = wait_for(lambda: children_of(terminal.pid))
        terminal.interrupt()
        assert terminal.wait() == 130
        assert "Traceback" not in terminal.text
    wait_for(lambda: not alive(workers))


def test_a_large_pack_is_there_at_once_and_its_end_a_key_away(home: Path, tmp_path: Path):
    root = make_pack(tmp_path / "pack", 1000)
    (home / "cache").unlink()  # and so nothing is remembered of any pack
    with jaxtutor("--pack", str(root), columns=120, rows=40) as terminal:
        terminal.until("0 of 1000 passed")
        terminal.press("\x1b[F")
        terminal.until("lesson-00999")
        terminal.until("Batches, lesson 00999")
        terminal.press("enter")
        terminal.until("Batches, lesson 00999  ·  1000/1000")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
    with jaxtutor("--pack", str(root), columns=120, rows=40) as terminal:
        terminal.until("Batches, lesson 00999  ·  1000/1000")


def test_a_broken_manifest_is_told_before_the_app_starts(home: Path, tmp_path: Path):
    (tmp_path / "pack.yaml").write_text("format: 1\nid: x\ntitle: X\ntracks: []\n")
    with jaxtutor("--pack", str(tmp_path)) as terminal:
        assert terminal.wait() == 2
        assert "4:9: tracks: expected list of length >= 1" in terminal.text


def test_make_run_starts_the_app(home: Path):
    repository = Path(__file__).parents[2]
    with Terminal("make", "--no-print-directory", "-C", str(repository), "run") as terminal:
        terminal.until("From PyTorch to JAX")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0


def children_of(pid: int) -> list[int]:
    """Sandboxes started by a process that can already run foreign code."""
    found = []
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        for task in tasks:
            found += [int(child) for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return found


def alive(pids: list[int]) -> list[int]:
    found = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.append(pid)
    return found


def wait_for(condition: Callable[[], T]) -> T:
    """The first true value of a condition."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found
