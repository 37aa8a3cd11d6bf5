"""What the documentation shows is what happens."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import fields

from tests.cases import for_each
from tests.conftest import course
from tests.stopwatch import GUARD
from tutor.authoring.lint_rules import RULES
from tutor.check import Check
from tutor.checks import BUILT_IN
from tutor.inputs.datasets import DataFile
from tutor.inputs.functions import FUNCTIONS
from tutor.lesson import Equivalent, FailureHint, Lesson, Limits, Mistake
from tutor.manifest import LatePenalty, Manifest, MapEntry, Track
from tutor.pack.struct_reader import rule
from tutor.ui.screens.lesson_screen import LessonScreen

REPOSITORY = Path(__file__).parents[2]
PAGES = sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")])
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


@pytest.mark.parametrize("page", filter(commands, PAGES), ids=lambda page: page.name)
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
    for page in [*PAGES, REPOSITORY / "CHANGELOG.md"]:
        text = re.sub(r"```.*?```|`[^`\n]*`", "code", page.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), (page, target)


def test_every_draw_is_documented():
    text = (REPOSITORY / "docs" / "format.md").read_text(encoding="utf-8")
    for name in FUNCTIONS:
        assert f"{name}(" in text


def test_the_course_has_the_lessons_and_checks_that_cover_topics():
    text = (REPOSITORY / "docs" / "coverage.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!topic |---)(.+) \| (.+) \|$", text, re.MULTILINE)
    assert len(rows) > 100
    for topic, covered in rows:
        for where in covered.split("; ") if covered != "**open**" else ():
            match = re.fullmatch(r"`([\w-]+)`: (.+)", where)
            assert match, topic
            titles = [check.title for check in course().lesson(match[1]).checks]
            assert match[2] in (*titles, "*brief*"), topic


def test_lessons_cite_the_texts_that_the_course_covers():
    text = (REPOSITORY / "docs" / "coverage.md").read_text(encoding="utf-8")
    sources = {source for lesson in course().lessons.values() for source in lesson.sources}
    for title, about in re.findall(r"^## (.+)\n\n(.+)$", text, re.MULTILINE):
        assert title in sources or "<https://" in about, title


FORMAT = (
    Manifest, Track, MapEntry, LatePenalty, Lesson, DataFile, FailureHint, Mistake, Equivalent,
    Limits, Check,
)  # fmt: skip


@for_each("cls", FORMAT, ids=lambda cls: cls.__name__)
def test_every_field_of_a_pack_is_documented_with_its_default(cls: type[Struct]):
    text = (REPOSITORY / "docs" / "format.md").read_text(encoding="utf-8")
    table = text.partition(f"<!-- fields: {cls.__name__} -->\n")[2].partition("\n\n")[0]
    rows = [line.split(" | ") for line in table.splitlines()[2:]]
    documented = {cells[0].strip("| `"): (cells[1], cells[2].strip("`")) for cells in rows}
    left_out = getattr(cls, "NOT_IN_YAML", ())
    known = {one.encode_name: one for one in fields(cls) if one.name not in left_out}
    assert documented.keys() == known.keys()
    hints = get_type_hints(cls, include_extras=True)
    for name, (value, default) in documented.items():
        field = known[name]
        if field.required:
            assert default == "required", name
        elif isinstance(field.default, str | int | float) and field.default != "":
            assert default == msgspec.json.encode(field.default).decode(), name
        else:
            assert default == "", name
        if "](#" not in value and value not in ("Python source", "a version specifier"):
            bounds = re.findall(r"(?<![\w.])[\d.]+\b", rule(hints[field.name]))
            assert {*bounds} <= {"0", "1", *re.findall(r"[\d.]+\b", value)}, name


def test_the_documentation_says_how_many_cases_a_check_has_by_default():
    text = (REPOSITORY / "docs" / "format.md").read_text(encoding="utf-8")
    ((listed, others),) = re.findall(r"By default, `cases` is (.+); (\d+) for the others", text)
    counts = {
        kind: int(part[0]) for part in listed.split("; ") for kind in re.findall(r"`(\w+)`", part)
    }
    for kind in BUILT_IN:
        assert kind.default_cases == counts.pop(kind.kind, int(others)), kind.kind
    assert not counts


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
