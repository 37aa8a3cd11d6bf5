"""`jaxtutor watch` in a terminal, followed key by key, and without one."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command import jaxtutor as run
from tests.conftest import MINI
from tests.sandbox.processes import alive, descendants
from tests.stopwatch import until
from tests.terminal.screen import Terminal, jaxtutor
from tutor.learner.progress import Progress

WRONG = "def double(x):\n    return 3 * x\n"
BROKEN = "def double(x):\n    y = x\n    return y.no_such\n"
RIGHT = "def double(x):\n    return 2 * x\n"
ENDLESS = "def double(x):\n    while True: pass\n"

COMMAND = (sys.executable, "-m", "tutor", "watch", "double", "--pack", str(MINI))
ALTERNATE = (b"\x1b[?1049h", b"\x1b[?1047h", b"\x1b[?47h")
CLEAR = b"\x1b[2J"


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that writes its arguments and the terminal's settings into files, and ends."""
    program = tmp_path / "vim"
    program.write_text(
        f'#!/bin/sh\nstty -g > "{tmp_path}/settings"\necho "$@" > "{tmp_path}/said"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(program))
    return tmp_path


@contextmanager
def watching(**more: str) -> Iterator[Terminal]:
    """`watch` in a terminal whose settings are read first; they are as before when it has ended."""
    with Terminal("sh", "-c", 'read go; exec "$@"', "sh", *COMMAND, **more) as terminal:
        before = terminal.settings
        terminal.press("enter")
        yield terminal
        terminal.wait()
        assert terminal.settings == before
        assert not any(one in terminal.raw for one in ALTERNATE)


def keys(text: str) -> bool:
    """Whether the keys are below everything else: `watch` waits."""
    lines = [line for line in text.splitlines() if line]
    return bool(lines) and lines[-1].endswith("e:editor / q:quit ?")


def test_every_key(own: Path, editor: Path):
    own.write_text(WRONG)
    with watching(rows=60) as terminal:
        text = terminal.until(keys)
        assert "Twice as much" in text
        assert "0 of 2 checks pass" in text
        assert "0 of 2 lessons, 0 of 2 in Basics" in text
        assert "n:next" not in text
        assert f";{own.as_uri()}\x1b\\".encode() in terminal.raw

        terminal.press("h")
        terminal.until("Hint 1 of 2")
        terminal.press("H")
        terminal.until("Hint 2 of 2")
        terminal.press("h")
        terminal.until("That was the last hint. For the solution, run: jaxtutor solution double")
        terminal.press("n", "x")
        terminal.until("double has not passed yet")

        clears = terminal.raw.count(CLEAR)
        own.write_text(BROKEN)
        text = terminal.until(lambda text: "no_such" in text and keys(text))
        assert "Hint" not in text
        assert terminal.raw.count(CLEAR) == clears + 1
        terminal.press("e")
        until((editor / "said").exists)
        assert (editor / "said").read_text() == f"+3 {own}\n"
        terminal.press("r")
        until(lambda: terminal.text and terminal.raw.count(CLEAR) == clears + 2)
        terminal.until(keys)

        terminal.press("l")
        text = terminal.until("Enter to stay:")
        assert "1 · double  Twice as much  ← here" in text
        assert "2   tall    Upright" in text
        terminal.press("taal", "enter")
        terminal.until("there is no lesson 'taal'; did you mean 'tall'?")
        terminal.press("l")
        terminal.until("Enter to stay:")
        own.write_text(RIGHT)  # what was being typed is forgotten
        terminal.until(lambda text: "2 of 2 checks pass" in text and "n:next" in text)
        assert "1 of 2 lessons, 1 of 2 in Basics" in terminal.text
        terminal.press("n")
        terminal.until(lambda text: "Write tall(x)" in text and keys(text))
        terminal.press("l")
        terminal.until("Enter to stay:")
        terminal.press("1", "enter")
        terminal.until(lambda text: "2 of 2 checks pass" in text and "n:next" in text)
        terminal.press("q")
        assert terminal.wait() == 0
    with Progress() as progress:
        assert progress.last_lesson("mini") == "double"


def test_a_source_that_is_too_deep_does_not_end_it(own: Path):
    own.write_text(f"x = {'-' * 9_000}1\n{RIGHT}")
    with watching(rows=60) as terminal:
        terminal.until(
            lambda text: "line 1: SyntaxError: the code is too deeply" in text and keys(text)
        )
        own.write_text(f"x = 1{' + 1' * 2_500}\n{RIGHT}")
        terminal.until(lambda text: "2 of 2 checks pass" in text and keys(text))
        terminal.press("q")
        assert terminal.wait() == 0


def test_a_change_through_other_functions_is_seen(own: Path):
    """Whatever one function does to another: `watch` says what `check` does."""
    reaching = """
import operator

def other(x):
    return 3 * x

def double(x):
    operator.setitem(operator.attrgetter("__globals__")(other), "double", other)
    return 2 * x
"""
    own.write_text(RIGHT)
    with watching(rows=60) as terminal:
        terminal.until(lambda text: "2 of 2 checks pass" in text and keys(text))
        own.write_text(reaching)
        terminal.until(lambda text: "0 of 2 checks pass" in text and keys(text))
        terminal.press("q")
        assert terminal.wait() == 0
    assert b"0 of 2 checks pass" in run("check", "double", str(own)).stdout


def test_ctrl_z_gives_the_terminal_back_until_it_goes_on(own: Path, tmp_path: Path):
    own.write_text(WRONG)
    with Terminal("bash", "--norc", "--noprofile", "-i", PS1="$ ") as terminal:

        def settings(name: str) -> str:
            terminal.press(f"stty -g > {tmp_path}/{name}; echo {name} written", "enter")
            terminal.until(f"\n{name} written")
            return (tmp_path / name).read_text()

        before = settings("before")
        terminal.press(" ".join(COMMAND), "enter")
        terminal.until(keys)
        terminal.press("\x1a")
        terminal.until("Stopped")
        assert settings("stopped") == before
        terminal.press("clear; fg", "enter")
        terminal.until(keys)
        terminal.press("\x03")
        terminal.until(lambda text: text.rstrip().endswith("$"))
        assert settings("after") == before
        terminal.press("exit", "enter")
        terminal.wait()


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_and_puts_the_terminal_back(own: Path, stop: int, code: int):
    own.write_text(ENDLESS)
    with watching() as terminal:
        workers = until(lambda: descendants(terminal.pid))
        os.kill(terminal.pid, stop)
        assert terminal.wait() == code
        assert "Traceback" not in terminal.text
    until(lambda: not any(map(alive, workers)))


def test_closing_the_terminal_leaves_no_sandbox(own: Path):
    own.write_text(ENDLESS)
    with jaxtutor(*COMMAND[3:]) as terminal:
        workers = until(lambda: descendants(terminal.pid))
        terminal.hang_up()
        until(lambda: not any(map(alive, [terminal.pid, *workers])))


def test_a_dumb_terminal_gets_plain_lines_and_no_keys(own: Path):
    own.write_text(WRONG)
    with watching(TERM="dumb") as terminal:
        terminal.until("── double")
        terminal.interrupt()
        assert terminal.wait() == 130
        assert b"\x1b" not in terminal.raw


def test_a_pipe_gets_plain_lines_and_no_keys(own: Path):
    own.write_text(WRONG)
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        COMMAND, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if b"Waiting for" in line and len(said) > 1:
                if b"2 of 2" in said[-2]:
                    break
                own.write_text(RIGHT)
        process.send_signal(signal.SIGINT)
    assert process.returncode == 130
    text = b"".join(said)
    assert text.index(b"0 of 2 checks pass") < text.index(b"2 of 2 checks pass")
    assert b"\x1b" not in text and b"q:quit" not in text
