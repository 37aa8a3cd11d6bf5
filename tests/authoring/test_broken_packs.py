"""Common errors in lessons are reported with their position and a remedy:
`tests/packs/broken/cases.yaml`."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from tests.command import jaxtutor
from tutor import __version__
from tutor.authoring.lint import lint
from tutor.lesson import Lesson
from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import parse

BROKEN = Path(__file__).parents[1] / "packs" / "broken"
LIST = (BROKEN / "cases.yaml").read_text(encoding="utf-8")
CASES: list[dict[str, Any]] = plain(parse(f"cases:\n{LIST}".encode(), "cases.yaml")[0])["cases"]


def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the pack and go there."""
    shutil.copytree(BROKEN / "pack", tmp_path / "pack")
    monkeypatch.chdir(tmp_path / "pack")
    return Path()


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return copied(tmp_path, monkeypatch)


def broken(pack: Path, case: dict[str, Any]) -> Path:
    """The pack with this case's change in it."""
    path = pack / case.get("file", "vectors/norms.yaml")
    text = path.read_text(encoding="utf-8")
    for old, new in case["edit"].items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, encoding=case.get("encoding", "utf-8"))
    return pack


def test_the_pack_is_whole_before_it_is_broken(pack: Path):
    assert not lint(pack).problems


def test_there_are_enough_ways():
    assert len(CASES) >= 40
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert len({told for case in CASES for told in case["tells"]}) >= 40


@for_each("case", CASES, ids=lambda case: case["name"])
def test_what_is_wrong_is_told_with_its_place_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
):
    found = lint(broken(copied(tmp_path, monkeypatch), case)).problems
    keys = ", ".join(key for key in Lesson.__struct_fields__ if key not in Lesson.NOT_IN_YAML)
    wanted = [
        told.replace("{version}", __version__).replace("{keys}", keys) for told in case["tells"]
    ]
    assert list(map(str, found)) == wanted
    for problem in found:
        assert problem.remedy or "must be" in problem.message
        text = Path(problem.file).read_bytes().decode(errors="replace").splitlines()
        assert 1 <= problem.line <= len(text)
        assert 1 <= problem.column <= len(text[problem.line - 1]) + 1


def test_the_command_says_the_same_and_exits_with_2(pack: Path):
    done = jaxtutor("pack", "lint", str(broken(pack, CASES[0])), pack=None)
    assert done.returncode == 2
    first, *_, last = done.stdout.decode().splitlines()
    assert first == CASES[0]["tells"][0]
    assert last.startswith("1 problem, ")
