"""The very first start, in a terminal."""

from pathlib import Path

from tests.conftest import MINI
from tests.terminal.screen import jaxtutor


def test_the_first_start_shows_the_machine_once_and_begins(home: Path):
    (home / "data" / "settings.json").unlink()
    with jaxtutor("--pack", str(MINI)) as terminal:
        terminal.until("begin with Twice as much")
        terminal.until("✓ Python")
        terminal.until("✓ Sandbox")
        terminal.until("CPU devices")
        terminal.press("enter")
        terminal.until("Twice as much  ·  1/2")
        terminal.press("course")
        terminal.until("0 of 2 passed")
        terminal.press("quit")
        assert terminal.wait() == 0
    with jaxtutor("--pack", str(MINI)) as terminal:
        terminal.until("Twice as much  ·  1/2")
        assert "This machine" not in terminal.text


def test_quitting_the_first_start_leaves_nothing_to_wait_for(home: Path):
    (home / "data" / "settings.json").unlink()
    with jaxtutor("--pack", str(MINI)) as terminal:
        terminal.until("looking")
        terminal.press("quit")
        assert terminal.wait() == 0
    with jaxtutor("--pack", str(MINI)) as terminal:
        terminal.until("0 of 2 passed")
