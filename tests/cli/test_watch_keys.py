"""What the keys of `watch` do, without a terminal and without sandboxes."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from tests.conftest import MINI
from tests.stopwatch import until
from tutor.cli.inbox import Inbox
from tutor.cli.watch_keys import Keyboard
from tutor.cli.watch_output import Screen
from tutor.cli.watched_lesson import WatchedLesson
from tutor.engine.background import RunEvent, RunFinished
from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.lesson import Lesson
from tutor.pack import open_pack
from tutor.report import CheckResult, Fault, Report

PASSED = CheckResult("value", "value", "pass")
WRONG = CheckResult("value", "value", "fail", "largest difference 1")

Listener = Callable[[RunEvent], None]


class Runs:
    """Both the runner and its pool: every run ends at once, with a pass if the code has `pass`, and
    with a fault of ours if it has `busy`."""

    def __init__(self) -> None:
        self.number = 0

    def run(self, lesson: Lesson, code: str, listener: Listener, seed: int) -> int:
        self.number += 1
        report = Report(lesson.id, "fail", (WRONG,))
        if "pass" in code:
            report = Report(lesson.id, "pass", (PASSED,))
        if "busy" in code:
            fault = Fault("busy-machine", "the machine is too busy")
            report = Report(lesson.id, "internal", (), fault=fault)
        listener(RunFinished(self.number, report))
        return self.number

    def stop(self) -> None:
        pass

    def expect(self, *arguments: object) -> None:
        pass


class Typed:
    """Keys that are typed one after another, each when `watch` waits for one; then q."""

    resumed = False
    typing = False

    def __init__(self, typed: list[str | Callable[[], object]], screen: Screen) -> None:
        self._typed = iter([*typed, "q"])
        self._screen = screen
        self._reader, self._writer = os.pipe()
        os.write(self._writer, b"!")  # so that there is always something to read

    def close(self) -> None:
        os.close(self._reader)
        os.close(self._writer)

    def source(self) -> list[int]:
        return [self._reader] if self._screen.prompted else []

    def read(self) -> str:
        following = next(self._typed)
        if isinstance(following, str):
            return following
        following()
        return ""

    def begin_line(self) -> None:
        self.typing = True

    def read_line(self) -> str:
        self.typing = False
        return self.read()


class Session:
    def __init__(self, root: Path, columns: int) -> None:
        self.pack = open_pack(root)
        self.out = Console(file=StringIO(), width=columns, highlight=False)
        first = self.pack.lesson("double")
        self.screen = Screen(self.pack, first, self.out, lambda *words: " ".join(words))
        self.inbox = Inbox[RunEvent]()
        runs = cast(Any, Runs())
        self.watched = WatchedLesson(self.screen, first, 0, runs, runs, self.inbox)

    def press(self, *typed: str | Callable[[], object], editor: bool = True) -> str:
        """Press these keys (or call these functions), then q; return what is printed."""
        with closing(Typed([*typed], self.screen)) as keys:
            screen, inbox = self.screen, self.inbox
            Keyboard(cast(Any, keys), self.watched, screen, inbox, editor=editor).follow()
        assert isinstance(self.out.file, StringIO)
        return self.out.file.getvalue()

    def write(self, lesson: str, code: str | bytes) -> None:
        path = Workspace(self.pack).path(self.pack.lesson(lesson))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(code if isinstance(code, bytes) else code.encode())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the small pack. It has a hint for a failure."""
    copy = Path(shutil.copytree(MINI.parent, tmp_path / "pack") / "lessons")
    with (copy / "basics" / "double.yaml").open("a") as file:
        file.write("failure_hints:\n  - {fails: value, hint: Compare them.}\n")
    return copy


@pytest.fixture
def session(root: Path) -> Iterator[Session]:
    made = Session(root, 100)
    yield made
    made.inbox.close()


def test_the_hint_for_a_failure_comes_first_and_once(session: Session):
    text = session.press("h", "h", "h", "h")
    offer, failure, first, second = (
        text.index(one) for one in ("press h.", "Compare them.", "Hint 1 of 2", "Hint 2 of 2")
    )
    assert offer < failure < first < second
    assert text.count("Compare them.") == 1
    session.write("double", "another # wrong answer")
    assert session.press("h").count("Compare them.") == 2


def test_n_waits_for_a_pass(session: Session):
    text = session.press("n", lambda: session.write("double", "pass"), "n")
    assert text.index("double has not passed yet") < text.index("n:next") < text.index("── tall")
    assert session.watched.lesson.id == "tall"


def test_n_after_an_earlier_pass_needs_no_other(session: Session):
    with Progress() as progress:
        progress.record("mini", Report("double", "pass", (PASSED,)))
    session.press("n")
    assert session.watched.lesson.id == "tall"


def test_our_own_fault_holds_nobody_back(session: Session):
    session.write("double", "busy")
    text = session.press("n")
    assert "this is not your fault" in text
    assert session.watched.lesson.id == "tall"


def test_n_after_the_last_lesson_goes_to_the_first_that_is_not_passed(session: Session):
    session.write("tall", "pass")
    session.press("l", "tall", "n")
    assert session.watched.lesson.id == "double"
    session.write("double", "pass")
    text = session.press(lambda: None, "l", "2", "n")
    assert "That was the last lesson. You have passed them all." in text
    assert "2 of 2 lessons, 2 of 2 in Basics" in text


def test_a_lesson_that_is_broken_is_reported_and_not_entered(session: Session, root: Path):
    (root / "basics" / "tall.yaml").write_text("id: tall\n")
    text = session.press("l", "2", "l", "3")
    assert "tall.yaml:1" in "".join(text.split())  # long paths are wrapped
    assert "there is no lesson '3'. Press l to see the lessons" in text
    assert session.watched.lesson.id == "double"


def test_a_file_that_is_missing_or_not_text_is_waited_for(session: Session):
    path = session.watched.path
    text = session.press(
        path.unlink, lambda: session.write("double", b"\xff\xfe"),
        lambda: session.write("double", "pass"),
    )  # fmt: skip
    # Long paths are wrapped.
    assert "".join(f"{path} is missing; waiting".split()) in "".join(text.split())
    assert text.index("not UTF-8") < text.index("1 of 1 checks pass")


def test_a_directory_that_cannot_be_written_is_reported(root: Path, home: Path):
    (home / "workspace").write_text("in the way")
    made = Session(root, 200)
    with closing(made.inbox):
        assert "double.py could not be created: Not a directory" in made.press()


def test_the_keys_are_shown_again_below_what_was_printed(session: Session):
    text = session.press("h")
    assert text.count("h:hint / l:list / r:run / e:editor / q:quit ?") == 2


def test_e_says_how_to_set_an_editor(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no editor found; set EDITOR, for example: export EDITOR=vim" in session.press("e")


def test_inside_tmux_each_lesson_opens_by_itself(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    said = tmp_path / "said"
    for name in ("tmux", "vim"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$@" >> "{said}"\n')
        (tmp_path / name).chmod(0o755)
    for name, value in (("PATH", str(tmp_path)), ("TMUX", "x"), ("EDITOR", "vim")):
        monkeypatch.setenv(name, value)
    session.press(editor=False)
    assert not said.exists()
    text = session.press("l", "tall", "e", "r")
    until(said.exists)
    opened = [line.rpartition("/")[2].strip("'\"") for line in said.read_text().splitlines()]
    assert opened == ["double.py", "tall.py", "tall.py"]
    assert "Opened with tmux." in text
