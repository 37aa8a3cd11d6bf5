"""`jaxtutor pack build | install | list | remove`, run as an author and a learner run them."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import MINI
from tests.project.test_imports import FRAMEWORKS, imported_by
from tests.stopwatch import GUARD


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands are run beside a copy of the small pack."""
    folder = tmp_path / "here"
    shutil.copytree(MINI.parent, folder / "mypack")
    monkeypatch.chdir(folder)
    return folder


def jaxtutor(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [sys.executable, "-m", "tutor", *arguments],
        env={**os.environ, **environment},
        capture_output=True, text=True, timeout=GUARD, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done


def said(*arguments: str) -> str:
    done = jaxtutor(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(*arguments: str) -> str:
    done = jaxtutor(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def names(archive: str) -> set[str]:
    with zipfile.ZipFile(archive) as file:
        return set(file.namelist())


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def edit(old: str, new: str, file: str = "pack.yaml") -> None:
    path = Path("mypack", "lessons", file)
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


# --- build -----------------------------------------------------------------------------------


def test_a_pack_is_built_installed_used_and_removed(here: Path, home: Path) -> None:
    text = said("pack", "build", "mypack/lessons")
    assert "mini.zip: 2 lessons, with solutions" in text
    assert "Install it: jaxtutor pack install mini.zip" in text
    assert sorted(path.name for path in here.iterdir()) == ["mini.zip", "mypack"]
    shutil.rmtree("mypack")
    text = said("pack", "install", "mini.zip")
    assert 'Installed mini, "A pack for tests": 2 lessons, with solutions.' in text
    assert "Start it: jaxtutor --pack mini" in text
    assert "Twice as much" in said("list", "--pack", "mini")
    assert "Add it to itself" in said("--pack", "mini", "hint", "double")
    own = home / "workspace" / "mini" / "double.py"
    own.parent.mkdir(parents=True)
    own.write_text("def double(x):\n    return x + x\n")
    assert "2 of 2 checks pass" in said("check", "double", "--pack", "mini")
    text = said("pack", "remove", "mini")
    assert f"Removed mini. Your progress is kept, and your code in {own.parent}." in text
    assert own.read_text() == "def double(x):\n    return x + x\n"
    text = refused("list", "--pack", "mini")
    assert "no installed pack has this id; list installed packs: jaxtutor pack list" in text
    said("pack", "install", "mini.zip")
    assert "✓ double" in said("list", "--pack", "mini")


def test_answers_of_pytorch_are_recorded_where_they_are_missing() -> None:
    recorded = Path("mypack/lessons/recorded")
    before = names_in(recorded)
    shutil.rmtree(recorded)
    text = said("pack", "build", "mypack/lessons")
    assert f"Recorded PyTorch's answers of {len(before)} lessons in {recorded}" in text
    assert names_in(recorded) == before
    assert {f"recorded/{name}" for name in before} <= names("mini.zip")
    assert "Recorded" not in said("pack", "build", "mypack/lessons")
    edit("return 2 * x", "return 2 / x", "basics/double.yaml")
    text = said("pack", "build", "mypack/lessons", "--force")
    assert "Recorded PyTorch's answers of 1 lesson in" in text


def test_for_learners_there_are_no_solutions() -> None:
    text = said("pack", "build", "mypack/lessons", "--without-solutions")
    assert "mini-learners.zip: 2 lessons, without solutions" in text
    assert "Left out: solutions, variants, mistakes, equivalent, comments." in text
    assert not any("solution" in name for name in names("mini-learners.zip"))
    said("pack", "install", "mini-learners.zip")
    assert "this pack has no solution for this lesson" in refused(
        "solution", "double", "--anyway", "--pack", "mini"
    )
    for _ in range(3):
        assert "solution" not in said("hint", "double", "--pack", "mini")
    Path("answer.py").write_text("def double(x):\n    return 2 * x\n")
    text = said("check", "double", "answer.py", "--pack", "mini")
    assert "Next: jaxtutor check tall --pack mini" in text and "solution" not in text


def test_for_graders_the_hidden_parts_and_solutions_are_there() -> None:
    assert "Left out: variants." in said("pack", "build", "mypack/lessons", "--grading")
    assert {"basics/double.yaml", "solutions/basics/double.py"} <= names("mini-grading.zip")
    with zipfile.ZipFile("mini-grading.zip") as file:
        lesson = Path("mypack/lessons/basics/double.yaml").read_bytes()
        assert file.read("basics/double.yaml") == lesson
        about = json.loads(file.read("manifest.json"))
    assert (about["purpose"], about["left_out"], about["format"]) == ("grading", ["variants"], 1)


def test_only_one_purpose_at_a_time() -> None:
    text = refused("pack", "build", "mypack/lessons", "--grading", "--without-solutions")
    assert "not allowed with argument" in text


def test_the_same_pack_gives_the_same_bytes_wherever_and_whenever(tmp_path: Path) -> None:
    said("pack", "build", "mypack/lessons", "--output", "one.zip")
    other = Path(shutil.copytree("mypack", tmp_path / "elsewhere"))
    for number, path in enumerate(sorted(other.rglob("*"), reverse=True)):
        path.chmod(0o700)
        os.utime(path, (number * 10_000_000, number * 10_000_000))
    jaxtutor(
        "pack",
        "build",
        str(other / "lessons"),
        "-o",
        "two.zip",
        PYTHONHASHSEED="7",
        TZ="Asia/Tokyo",
    )
    assert Path("one.zip").read_bytes() == Path("two.zip").read_bytes()


def test_a_file_that_is_there_is_replaced_only_if_asked() -> None:
    Path("mini.zip").write_text("somebody's")
    text = refused("pack", "build", "mypack/lessons")
    assert "mini.zip exists and differs" in text and "--force" in text
    assert Path("mini.zip").read_text() == "somebody's"
    said("pack", "build", "mypack/lessons", "--force")
    said("pack", "build", "mypack/lessons")  # the same again


def test_a_broken_pack_is_neither_built_nor_installed() -> None:
    edit("hints:", "hnits:", "basics/double.yaml")
    for command in ("build", "install"):
        text = refused("pack", command, "mypack/lessons")
        assert "mypack/lessons/basics/double.yaml:16:1: unknown key 'hnits'" in text
    assert "Nothing was installed" in text
    assert not Path("mini.zip").exists()
    assert "mini" not in said("pack", "list")


def test_files_that_are_no_part_of_the_pack_are_told() -> None:
    for number in range(8):
        Path("mypack", "lessons", f"notes-{number}.txt").write_text("")
    told = (
        "Skipped files that are not part of a pack: notes-0.txt, notes-1.txt, notes-2.txt, "
        "notes-3.txt, notes-4.txt and 3 more."
    )
    for command in ("build", "install"):
        assert told in said("pack", command, "mypack/lessons")
    assert not any(name.endswith("txt") for name in names("mini.zip"))


# --- install and list ------------------------------------------------------------------------


def test_a_newer_edition_replaces_and_keeps_the_one_before() -> None:
    edit("id: mini\n", 'id: mini\nversion: "1.9"\n')
    assert 'Installed mini 1.9, "A pack' in said("pack", "install", "mypack/lessons")
    edit('"1.9"', '"1.10"')
    text = said("pack", "install", "mypack/lessons")
    assert "Installed mini 1.10" in text
    before = text.partition("to go back: jaxtutor pack install ")[2].splitlines()[0]
    assert "1.10, 2 lessons, with solutions; from " in said("pack", "list")
    said("pack", "install", before)
    (_, mini) = json.loads(said("pack", "list", "--json"))["packs"]
    assert (mini["version"], mini["source"]) == ("1.9", f"from {before}")


def test_an_edition_that_is_a_number_is_told() -> None:
    edit("id: mini\n", "id: mini\nversion: 1.10\n")
    assert "pack.yaml:3:10: version: must be letters and digits" in refused(
        "pack", "install", "mypack/lessons"
    )


def test_the_list_has_the_course_and_what_is_broken(home: Path) -> None:
    assert "core" in said("pack", "list")
    said("pack", "install", "mypack/lessons")
    (manifest,) = (home / "data" / "packs" / "mini").glob("*/pack.yaml")
    manifest.write_text("id: [")
    text = said("pack", "list")
    assert f"cannot be used: {manifest}:" in text and "not valid YAML" in text
    remedied = said("pack", "install", "mypack/lessons")
    assert "Installed mini" in remedied


def test_some_lessons_may_have_no_solution() -> None:
    Path("mypack", "solutions", "basics", "tall.py").unlink()
    assert "2 lessons, 1 with a solution" in said("pack", "build", "mypack/lessons")
    assert "2 lessons, 1 with a solution" in said("pack", "install", "mini.zip")
    assert "2 lessons, 1 with a solution" in said("pack", "list")


def test_the_course_and_what_is_not_there_cannot_be_removed() -> None:
    assert "no pack 'core' is installed; it is the built-in course" in refused(
        "pack", "remove", "core"
    )
    assert "did you mean 'core'?" in refused("pack", "remove", "coer")
    assert "See `jaxtutor pack list`" in refused("pack", "remove", "something-else")
    assert "the id 'core' is taken by the course" in _renamed_to_core()


def _renamed_to_core() -> str:
    edit("id: mini", "id: core")
    return refused("pack", "install", "mypack/lessons")


def test_an_archive_where_a_folder_is_expected_is_told() -> None:
    said("pack", "build", "mypack/lessons")
    text = refused("list", "--pack", "mini.zip")
    assert "to install a pack from a file: jaxtutor pack install mini.zip" in text


def test_pack_without_a_command_shows_them() -> None:
    text = said("pack")
    for command in ("build", "install", "list", "remove"):
        assert f"    {command}" in text


@pytest.mark.parametrize("arguments", [["pack", "list"], ["list", "--pack", "mini"]])
def test_lists_need_neither_numpy_nor_the_app(arguments: list[str]) -> None:
    said("pack", "install", "mypack/lessons")
    found = imported_by("-m", "tutor", *arguments)
    assert not found & (FRAMEWORKS | {"numpy", "textual"})
