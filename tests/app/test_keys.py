"""Keys come from one table, `tutor/ui/actions.py`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.keys import MENTION, PAGES, TABLE, with_keys
from tests.stopwatch import GUARD
from tutor.ui.actions import EDITING, actions
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.screens.map_screen import MapScreen
from tutor.ui.screens.preview_screen import PreviewScreen

REPOSITORY = Path(__file__).parents[2]
LITERAL = re.compile(r"\bf\d{1,2}\b|\bctrl[+-](?!c\b)|(?<!\w)\^[a-z]\b", re.IGNORECASE)


@pytest.mark.parametrize("screen", [CourseScreen, LessonScreen, MapScreen, PreviewScreen])
def test_no_key_of_a_screen_means_two_things(screen: type[LessonScreen]):
    # The menu has the key that stops a run, while nothing runs.
    chosen = [action for action in screen.ACTIONS if action.id != "menu"]
    if issubclass(screen, LessonScreen):
        chosen += [*actions(*EDITING, "palette")]
    keys = [key for action in chosen for key in action.all_keys.split(",")]
    assert len(keys) == len(set(keys))
    letters = [action.letter for action in chosen if action.letter]
    assert len(letters) == len(set(letters))


def test_other_keys_in_the_table_are_the_keys_on_every_screen(home: Path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.other_keys", str(home / "other")],
        capture_output=True,
        text=True,
        timeout=GUARD,
        cwd=REPOSITORY,
    )
    assert done.returncode == 0, done.stderr
    assert not re.search(r"\b(F\d|F1[012])\b|\^[A-Z]\b", done.stdout), done.stdout
    shown = set(re.findall(r"\bF(\d\d)\b", done.stdout))
    # The pane of what is hidden is named by its letter alone.
    assert shown == {str(number) for number in range(13, 25)} - {"23"}


def test_no_key_is_written_outside_the_table():
    for room in ("ui", "cli"):
        for file in (REPOSITORY / "tutor" / room).rglob("*.py"):
            if file.name != "actions.py":
                found = LITERAL.findall(file.read_text(encoding="utf-8"))
                assert not found, f"{file}: {found}; use key_of(…)"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_documentation_shows_the_keys_of_the_table(page: Path):
    text = page.read_text(encoding="utf-8")
    assert text == with_keys(text), "run .venv/bin/python docs/keys.py"
    rest = MENTION.sub("", TABLE.sub("", text))
    found = re.findall(r"\bF\d{1,2}\b|Ctrl\+(?!C)|(?<!\w)\^[A-Z]\b", rest)
    assert not found, f"write keys after the label of their action, as in **Run** (F5): {found}"
