"""Keys come from one table, `tutor/ui/actions.py`."""

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stopwatch import GUARD
from tutor.ui.actions import ACTIONS, EDITING, actions, key_of, shown_keys
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.first_run_screen import FirstRunScreen
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.screens.map_screen import MapScreen
from tutor.ui.screens.preview_screen import PreviewScreen

SCREENS = [CourseScreen, FirstRunScreen, LessonScreen, MapScreen, PreviewScreen]
REPOSITORY = Path(__file__).parents[2]
PAGES = sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")])
TABLE = re.compile(r"^\| key \| action \|\n\|---\|---\|\n((?:\|.*\n)*)", re.MULTILINE)
BY_LABEL = {action.label: action.id for action in reversed(ACTIONS.values())}
MENTION = re.compile(rf"\*\*({'|'.join(map(re.escape, BY_LABEL))})\*\* \(([^)\n]+)\)")
LITERAL = re.compile(r"\bf\d{1,2}\b|\bctrl[+-](?!c\b)|(?<!\w)\^[a-z]\b", re.IGNORECASE)


@pytest.mark.parametrize("screen", SCREENS)
def test_no_key_of_a_screen_means_two_things(screen: type[LessonScreen]):
    # One key stops a run, or else closes a hint, or else opens the menu.
    chosen = [action for action in screen.ACTIONS if action.id not in ("menu", "close_hint")]
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
    for label, key in MENTION.findall(text):
        assert key == key_of(BY_LABEL[label]), label
    rest = MENTION.sub("", TABLE.sub("", text))
    if page.name == "keyboards.md":
        return  # it is about keys that others take
    found = re.findall(r"\bF\d{1,2}\b|Ctrl\+(?!C)|(?<!\w)\^[A-Z]\b", rest)
    assert not found, f"write keys after the label of their action, as in **Run** (F5): {found}"


def test_the_table_of_keys_in_the_documentation_is_complete():
    (table,) = TABLE.findall((REPOSITORY / "docs" / "learners.md").read_text(encoding="utf-8"))
    shown = [*LessonScreen.ACTIONS, *actions("palette")]
    assert table.splitlines() == [f"| {shown_keys(one)} | {one.help} |" for one in shown]


# --- what terminals take -----------------------------------------------------------------------

TAKEN = {
    match[1]: match[2].split()
    for match in re.finditer(
        r"^\| ([^|]+) \| ((?:[a-z0-9+*]+ ?)+) \|$",
        (REPOSITORY / "docs" / "keyboards.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}


def test_the_table_of_terminals_is_read():
    assert {"VS Code's terminal", "GNOME Terminal", "tmux", "WezTerm", "macOS Terminal"} <= {*TAKEN}


@pytest.mark.parametrize("terminal", TAKEN)
@pytest.mark.parametrize("screen", SCREENS)
def test_a_terminal_leaves_every_action_a_key(terminal: str, screen: type[LessonScreen]):
    taken = TAKEN[terminal]

    def free(key: str) -> bool:
        return not any(fnmatch.fnmatchcase(key, one) for one in taken)

    with_menu = issubclass(screen, LessonScreen)
    assert free(ACTIONS["menu"].key)
    for action in (*screen.ACTIONS, *actions("palette", *(EDITING if with_menu else ()))):
        keys = action.all_keys.split(",")
        by_letter = action.letter and (
            with_menu or issubclass(screen, (CourseScreen, FirstRunScreen))
        )
        assert by_letter or any(map(free, keys)), f"{terminal} leaves no key for {action.id}"


@pytest.mark.parametrize("screen", SCREENS)
def test_every_action_has_a_key_that_is_no_function_key(screen: type[LessonScreen]):
    for action in screen.ACTIONS:
        assert not re.fullmatch(r"F\d+", key_of(action.id)), action.id
