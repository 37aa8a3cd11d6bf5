"""Which lesson a command is about if none is named, and what a misspelt word is answered with."""

from pathlib import Path

import pytest

from tests.cases import for_each
from tests.command import called
from tests.conftest import MINI
from tests.terminal.screen import jaxtutor
from tutor.learner.progress import Progress

pytestmark = pytest.mark.usefixtures("forked")

RIGHT = "def double(x):\n    return 2 * x\n"


def test_without_a_name_it_is_the_first_lesson_that_is_not_passed(home: Path):
    done = called("torch")
    assert b"return 2 * x" in done.stdout
    assert done.stderr == b"Lesson: double\n"
    own = home / "workspace" / "mini" / "double.py"
    own.parent.mkdir(parents=True)
    own.write_text(RIGHT)
    assert called("check").returncode == 0
    with Progress() as progress:
        progress._db.execute("DELETE FROM setting")  # as if it had been opened nowhere
    assert b"x.T" in called("torch").stdout


def test_without_a_name_it_is_the_lesson_opened_last():
    called("hint", "tall")
    for command in ("torch", "hint", "reset"):
        assert called(command).stderr.startswith(b"Lesson: tall\n")
    assert called("check").returncode == 1
    called("check", "double")
    done = called("solution", "--anyway")
    assert (done.stdout.decode(), done.stderr) == (RIGHT, b"Lesson: double\n")


def test_a_check_of_another_file_does_not_change_which_lesson_is_current():
    called("hint", "tall")
    called("check", "double", "-", code=RIGHT)
    assert called("torch").stderr == b"Lesson: tall\n"


def test_a_lesson_that_the_pack_no_longer_has_is_not_current():
    with Progress() as progress:
        progress.opened("mini", "removed")
    assert called("torch").stderr == b"Lesson: double\n"


@for_each(
    ("words", "told"),
    [
        (["chekc"], "there is no command or lesson 'chekc'; did you mean 'check'?"),
        (["chekc", "double", "--json"], "there is no command or lesson 'chekc'; did you mean"),
        (["duoble"], "there is no command or lesson 'duoble'; did you mean 'double'?"),
        (["open", "duoble"], "there is no lesson 'duoble'; did you mean 'double'?"),
        (["xyz"], f"'xyz'. Run `jaxtutor --help` or `jaxtutor list --pack {MINI}`"),
        (["double", "--seed", "3"], "unexpected after the lesson double: --seed 3. Expected a"),
        (["double", "x"], f"such as: jaxtutor check double --pack {MINI}"),
        (["double"], "the app needs a terminal"),
        (["check", "a.py"], "to check a file, name its lesson, too: jaxtutor check LESSON a.py"),
        (["check", "-"], "to check a file, name its lesson, too: jaxtutor check LESSON -"),
    ],
)
def test_an_unknown_word_is_answered_with_the_nearest(words: list[str], told: str):
    done = called(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert told in done.stderr.decode()


def test_an_unknown_command_of_packs_is_answered_with_the_nearest():
    done = called("pack", "instal", "x", pack=None)
    assert done.returncode == 2
    assert b"there is no command 'instal'; did you mean 'install'?" in done.stderr


@pytest.mark.parametrize("words", [["tall"], ["open", "tall"], ["--verbose", "tall"]])
def test_a_lessons_name_opens_the_app_there(words: list[str]):
    with jaxtutor(*words, "--pack", str(MINI)) as terminal:
        terminal.until("Upright  ·  2/2")
        terminal.press("quit")
        assert terminal.wait() == 0
