"""What the documentation shows is what happens."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from docs import coverage, fields
from tests.conftest import course
from tests.stopwatch import GUARD
from tutor.authoring.lint_rules import RULES
from tutor.inputs.functions import FUNCTIONS
from tutor.ui.screens.lesson_screen import LessonScreen

REPOSITORY = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    if page.parent.name != "explanations"  # generated
)
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

ELSEWHERE = {
    # Shown here, run in tests of their own.
    "make run": "tests/terminal/test_terminal.py::test_make_run_starts_the_app",
    "make test": "this very run",
    "make bench": "tests/project/test_benchmarks.py",
    "make attacks": "tests/attacks/test_campaign.py",
    "jaxtutor pack preview mypack cosine": "tests/terminal/test_authors.py",
    "jaxtutor watch": "tests/terminal/test_watch.py",
}
EXIT_CODES = {
    # Checking the starter, or one's own file that is still the starter, does not pass.
    "jaxtutor check vmap-basics": 1,
    "jaxtutor check grad-basics": 1,
}


def blocks(page: Path, language: str) -> list[tuple[str, str]]:
    """The fenced blocks of a page in a language: what stands after it, and the text."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [(more.strip(), text) for name, more, text in found if name == language]


def commands(page: Path) -> list[str]:
    lines = [line for _, text in blocks(page, "console") for line in text.splitlines()]
    assert all(line.startswith("$ ") for line in lines), "only commands stand in console blocks"
    return [line.removeprefix("$ ") for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_shown_does_what_it_should(page: Path, tmp_path: Path):
    """Files and commands in the order in which they stand there, as if somebody followed it."""
    for name in ("lessons", "solutions"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for language, more, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if more.strip().startswith("file="):
            target = tmp_path / more.strip().removeprefix("file=")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        for command in text.splitlines() if language == "console" else []:
            assert command.startswith("$ "), "only commands stand in console blocks"
            if command.removeprefix("$ ") not in ELSEWHERE:
                run(command.removeprefix("$ "), tmp_path, path)


def run(command: str, folder: Path, path: str) -> None:
    done = subprocess.run(
        shlex.split(command),
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    wanted = EXIT_CODES.get(command, 0)
    assert done.returncode == wanted, f"{command}\n{done.stdout}\n{done.stderr}"
    assert done.stdout


def test_there_are_commands_in_the_readme():
    shown = commands(REPOSITORY / "README.md")
    assert "make run" in shown
    assert "make test" in shown
    assert any(command.startswith("jaxtutor check") for command in shown)


def test_every_link_leads_somewhere():
    index = REPOSITORY / "docs" / "explanations" / "README.md"
    for page in [*PAGES, index, REPOSITORY / "CHANGELOG.md"]:
        text = re.sub(r"```.*?```|`[^`\n]*`", "code", page.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), (page, target)


def test_every_draw_is_documented():
    text = (REPOSITORY / "docs" / "format.md").read_text(encoding="utf-8")
    for name in FUNCTIONS:
        assert f"{name}(" in text


def test_what_the_course_covers_is_there_and_up_to_date():
    found = coverage.texts()
    assert [*coverage.problems(found, course())] == []
    page = coverage.PAGE.read_text(encoding="utf-8")
    assert page == coverage.page(found), "run .venv/bin/python docs/coverage.py"


def test_the_tables_of_fields_are_those_of_the_classes():
    texts = [page.read_text(encoding="utf-8") for page in fields.PAGES]
    for name in fields.CLASSES:
        assert any(f"<!-- fields: {name} -->" in text for text in texts), name
    for text in texts:
        assert text == fields.with_fields(text), "run .venv/bin/python docs/fields.py"


def test_every_remark_is_documented():
    text = (REPOSITORY / "docs" / "format.md").read_text(encoding="utf-8")
    for code in RULES:
        assert f"`{code}`" in text


def test_the_kind_of_check_in_the_documentation_is_the_one_that_is_tested():
    page = REPOSITORY / "docs" / "checks" / "own.md"
    shown = [found for found in FENCE.findall(page.read_text(encoding="utf-8")) if found[1].strip()]
    assert len(shown) == 4
    for _, more, text in shown:
        file = REPOSITORY / "tests/packs/custom-check" / more.strip().removeprefix("file=")
        assert text == file.read_text(encoding="utf-8"), more


def test_the_screenshot_is_of_this_app():
    picture = (REPOSITORY / "docs" / "screenshot.svg").read_text(encoding="utf-8")
    for action in LessonScreen.ACTIONS:
        if action.footer:
            assert action.label in picture


def test_the_changelog_knows_this_version():
    from tutor import __version__

    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {__version__}" in text
