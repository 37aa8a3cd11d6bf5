"""`pack preview` in a real terminal, and without one."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal.screen import jaxtutor
from tutor.authoring.new import new_pack


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    new_pack(tmp_path / "mine")
    return tmp_path / "mine"


def test_the_preview_shows_saved_changes(pack: Path):
    with jaxtutor("pack", "preview", str(pack), "standardize", columns=120, rows=40) as terminal:
        terminal.until("Standardize the columns of a table")
        terminal.until("value: standardize(x[:, 0])")
        lesson = pack / "basics" / "standardize.yaml"
        lesson.write_text(lesson.read_text().replace("title: Standardize", "title: Normalise"))
        terminal.until("Normalise the columns of a table")
        terminal.press("quit")
        assert terminal.wait() == 0


def test_without_a_terminal_the_message_says_what_to_do(pack: Path):
    command = [sys.executable, "-m", "tutor", "pack", "preview", str(pack), "standardize"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "the preview needs a terminal; try `jaxtutor pack lint`" in done.stderr


def test_a_missing_lesson_is_reported(pack: Path):
    with jaxtutor("pack", "preview", str(pack), "standardise") as terminal:
        terminal.until("did you mean 'standardize'?")
        assert terminal.wait() == 2
    with jaxtutor("pack", "preview", str(pack / "basics"), "standardize") as terminal:
        terminal.until("jaxtutor pack new DIR")
        assert terminal.wait() == 2
