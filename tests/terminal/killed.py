"""Kill the app at random moments while somebody types and checks, many times.

    python -m tests.terminal.killed 200

is what `make killed-app` runs. After each `kill -9`, the learner's file must hold all that was
typed up to `LOST_SECONDS` before, the app must start again without a word of damage, and no process
may be left. Prints the most that was lost, in seconds of typing.
"""

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.conftest import MINI, make_home
from tests.sandbox.processes import alive, descendants
from tests.stopwatch import until
from tests.terminal.screen import Terminal, jaxtutor
from tutor.learner.settings import Settings

SEED = 7
LOST_SECONDS = 1.0
TYPING_SECONDS = 2.5
"""The longest time from the first key to the kill."""

RUNS = 0.08
"""Share of the keys after which the code is checked."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        home = make_home(Path(folder))
        os.environ["JAXTUTOR_HOME"] = str(home)
        Settings(home / "data" / "settings.json").set("first-run", "shown")
        lost = [killed_once(home, chance, number) for number in range(count)]
    over = [one for one in lost if one > LOST_SECONDS]
    print(f"{count} kills; lost at most {max(lost):.2f} s of typing; more than "
          f"{LOST_SECONDS:g} s: {len(over)}")  # fmt: skip
    return 1 if over else 0


def killed_once(home: Path, chance: random.Random, number: int) -> float:
    """Type until a random moment, kill the app, and return how many seconds of typing are lost."""
    own = home / "workspace" / "mini" / "double.py"
    mark = f"# {number} "
    with jaxtutor("double", "--pack", str(MINI)) as terminal:
        text = terminal.until("Twice as much  ·  1/2")
        assert "damaged" not in text, text
        terminal.press("code", "ctrl+end", "enter", mark)
        terminal.until(mark.strip())
        typed, at = type_some(terminal, chance)
        killed = time.monotonic()
        workers = descendants(terminal.pid)
        os.kill(terminal.pid, signal.SIGKILL)
    until(lambda: not any(map(alive, workers)))
    _, found, rest = own.read_text(encoding="utf-8").partition(mark)
    kept = rest.partition("\n")[0] if found else ""
    assert "".join(typed).startswith(kept), f"not what was typed: {kept!r}"
    return killed - at[len(kept)] if len(kept) < len(typed) else 0.0


def type_some(terminal: Terminal, chance: random.Random) -> tuple[list[str], list[float]]:
    """Type letters, and check now and then; return the letters and when each was typed."""
    typed: list[str] = []
    at: list[float] = []
    end = time.monotonic() + chance.uniform(0.0, TYPING_SECONDS)
    while time.monotonic() < end:
        letter = chance.choice(LETTERS)
        typed.append(letter)
        at.append(time.monotonic())
        terminal.press(letter)
        if chance.random() < RUNS:
            terminal.press("run")
        time.sleep(chance.uniform(0.01, 0.12))  # a typist's pace
    return typed, at


if __name__ == "__main__":
    sys.exit(main())
