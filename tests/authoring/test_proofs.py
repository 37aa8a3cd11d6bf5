"""Proofs: what `pack test` records of a lesson that holds, and when it no longer applies."""

import errno
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.conftest import MINI
from tutor.authoring.lint import lint
from tutor.authoring.pack_test import LessonResult, PackTest, TrialOptions
from tutor.authoring.proofs import FILE, fingerprint, is_full, read_proofs, record, state, unproven
from tutor.authoring.strength import Strength
from tutor.authoring.trial import Kind, Outcome
from tutor.cli import main
from tutor.engine.versions import installed_versions
from tutor.manifest import Pack
from tutor.pack import load_pack, open_pack
from tutor.pack.contents import gather, strays
from tutor.pack.problems import BadSource

FULL = TrialOptions(seeds=20, mutate=True, variants=True)
DOUBLE = Path("basics") / "double.yaml"
SOLUTION = Path("solutions") / "basics" / "double.py"
FLAGS = ("--seeds", "20", "--mutate", "--variants")

Few = Callable[..., tuple[int, str]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the small pack in the current directory."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(MINI, "lessons")
    shutil.copytree(MINI.parent / "solutions", "solutions")
    return Path("lessons")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def prove(pack: Pack, *lessons: str) -> None:
    """Record proofs as if these lessons had held."""
    for name in lessons:
        record(pack, made_up(name), FULL, fingerprint(pack, name))


def made_up(lesson: str, problem: str = "") -> LessonResult:
    counted = Strength(mutants=4, killed=3, broke=0, stopped=0, equivalent=1)
    kinds: tuple[Kind, ...] = ("solution", "mistake", "variant")
    outcomes = tuple(Outcome(lesson, kind, kind, problem) for kind in kinds)
    return LessonResult(lesson, outcomes, counted, 0, 1, None, 1, ())


def states(root: Path) -> dict[str, str]:
    pack = load_pack(root)
    return {name: state(pack, name, read_proofs(root)) for name in pack.lessons}


# --- the file --------------------------------------------------------------------------------


def test_a_proof_says_what_was_proved(root: Path):
    prove(load_pack(root), "double")
    (proof,) = json.loads((root / FILE).read_text()).values()
    assert re.fullmatch(r"[0-9a-f]{64}", proof.pop("fingerprint"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", proof.pop("date"))
    assert proof == {
        "killed": 3, "mistakes": 1, "mutants": 3, "rate": 1.0, "seeds": 20, "variants": 1,
        "versions": installed_versions(),
    }  # fmt: skip


def test_each_lesson_keeps_its_entry_while_another_is_proved(root: Path):
    prove(load_pack(root), "tall")
    before = read_proofs(root)["tall"]
    prove(load_pack(root), "double")
    assert list(read_proofs(root)) == ["double", "tall"]  # sorted, for small diffs
    assert read_proofs(root)["tall"] == before


def test_entries_of_lessons_that_are_gone_are_dropped(root: Path):
    prove(load_pack(root), "double", "tall")
    edit(root / "pack.yaml", ", tall]", "]")
    (root / "basics" / "tall.yaml").unlink()
    prove(load_pack(root), "double")
    assert list(read_proofs(root)) == ["double"]


@pytest.mark.parametrize(
    "options",
    [{"seeds": 19}, {"mutate": False}, {"variants": False}],
    ids=lambda changed: next(iter(changed)),
)
def test_only_every_trial_is_a_proof(options: dict[str, int]):
    assert is_full(FULL)
    assert not is_full(msgspec.structs.replace(FULL, **options))


@pytest.mark.parametrize("text", ["", "<<<<<<< HEAD\n", "[]", '{"double": {"seeds": 20}}'])
def test_a_file_that_cannot_be_read_is_named_with_what_to_do(root: Path, text: str):
    (root / FILE).write_text(text)
    with pytest.raises(BadSource, match=r"lessons/proofs.json:1:1: .*; delete it, then run: "):
        read_proofs(root)
    (remark,) = (one for one in lint(root).remarks if one.file.endswith(FILE))
    assert (remark.file, remark.code) == ("lessons/proofs.json", "unreadable-proofs")
    assert main(["pack", "test", "lessons", *FLAGS]) == 2  # before anything is tried


# --- what it depends on ----------------------------------------------------------------------


def test_a_proof_is_stale_once_the_lesson_its_solution_or_a_variant_changes(root: Path):
    variants = SOLUTION.with_suffix("")
    variants.mkdir()
    (variants / "sum.py").write_text("def double(x):\n    return x + x\n")
    for change in (
        lambda: edit(root / DOUBLE, "seconds: ", "seconds: 1"),
        lambda: SOLUTION.write_text(SOLUTION.read_text() + "# more\n"),
        lambda: (variants / "sum.py").write_text("def double(x):\n    return 2.0 * x\n"),
        lambda: (variants / "other.py").write_text("def double(x):\n    return 2.0 * x\n"),
        lambda: (variants / "other.py").unlink(),
        lambda: SOLUTION.unlink(),
    ):
        prove(load_pack(root), "double", "tall")
        assert states(root) == {"double": "current", "tall": "current"}
        change()
        assert states(root) == {"double": "stale", "tall": "current"}


def test_prose_and_comments_can_change_without_a_new_proof(root: Path):
    prove(load_pack(root), "double")
    edit(root / DOUBLE, "title: ", "title: Other ")
    (root / "texts").mkdir()
    (root / "texts" / "more.md").write_text("Read more.\n")
    with (root / DOUBLE).open("a") as file:
        file.write("# A comment.\n")
        file.write("after_pass: |\n  {{more}}\n")
        file.write("failure_hints: [{fails: value, hint: Think.}]\n")
    assert states(root)["double"] == "current"
    (root / "texts" / "more.md").write_text("Read this.\n")
    assert states(root)["double"] == "current"


def test_the_fingerprint_does_not_depend_on_line_endings(root: Path):
    before = fingerprint(load_pack(root), "double")
    for path in (root / DOUBLE, SOLUTION):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert fingerprint(load_pack(root), "double") == before


def test_other_versions_leave_a_proof_current_but_it_can_be_renewed(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    pack = load_pack(root)
    prove(pack, "double")
    assert unproven(pack, pack.lessons, read_proofs(root)) == ["tall"]
    newer = {**installed_versions(), "jax": "99"}
    monkeypatch.setattr("tutor.authoring.proofs.installed_versions", lambda: newer)
    assert states(root)["double"] == "current"
    assert unproven(pack, pack.lessons, read_proofs(root)) == ["double", "tall"]


# --- in the pack -----------------------------------------------------------------------------


def test_lint_asks_for_proofs_only_where_a_pack_keeps_them(root: Path):
    def codes() -> list[tuple[str, str]]:
        remarks = [
            one for one in lint(root).remarks if "proof" in one.code or one.code == "unproven"
        ]
        assert all(one.remedy.endswith(" ".join(FLAGS)) for one in remarks)
        return [(one.code, one.remedy.split()[5]) for one in remarks]

    assert codes() == []
    prove(load_pack(root), "double")
    assert codes() == [("unproven", "tall")]
    edit(root / DOUBLE, "seconds: ", "seconds: 1")
    assert codes() == [("stale-proof", "double"), ("unproven", "tall")]


def test_proofs_are_part_of_a_pack_but_do_not_travel(root: Path):
    prove(load_pack(root), "double")
    pack = load_pack(root)
    assert strays(pack) == []
    assert FILE not in gather(pack)[1]


# --- the command -----------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Few:
    """`pack test` on one lesson, for which one seed is proof enough: its exit code and stderr."""
    monkeypatch.setattr("tutor.authoring.proofs.SEEDS", 1)

    def run(pack: str, *more: str) -> tuple[int, str]:
        command = ["pack", "test", pack, "double", "--seeds", "1", "--mutate", "--variants", *more]
        return main(command), capsys.readouterr().err

    return run


def test_the_full_pack_test_records_a_proof_and_skips_it_later(root: Path, few: Few):
    assert few("lessons") == (0, "Recorded the proof of 1 lesson in lessons/proofs.json\n")
    proof = read_proofs(root)["double"]
    assert (proof.seeds, proof.mistakes, proof.rate) == (1, 1, 1.0)
    assert states(root)["double"] == "current"
    assert few("lessons", "--unproven") == (0, "1 of 1 lessons skipped: proved already\n")


class Trying(PackTest):
    """Tries nothing."""

    problem = ""

    def results(self) -> Iterator[LessonResult]:
        yield made_up("double", self.problem)


@pytest.fixture
def nothing_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.authoring.pack_test.PackTest", Trying)


@pytest.mark.usefixtures("nothing_tried")
def test_what_does_not_hold_keeps_its_old_proof(
    root: Path, few: Few, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Trying, "problem", "it is wrong")
    prove(load_pack(root), "double")
    before = (root / FILE).read_bytes()
    assert few("lessons") == (1, "")
    assert (root / FILE).read_bytes() == before


@pytest.mark.usefixtures("nothing_tried")
def test_an_installed_pack_gets_no_proofs(root: Path, few: Few):
    assert main(["pack", "install", "lessons"]) == 0
    assert few("mini") == (0, "")
    assert few(str(open_pack("mini").root)) == (0, "")
    assert few("lessons")[1].startswith("Recorded")


@pytest.mark.usefixtures("nothing_tried")
def test_proofs_that_cannot_be_written_are_a_message(
    root: Path, few: Few, monkeypatch: pytest.MonkeyPatch
):
    def refuse(path: Path, data: bytes) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tutor.authoring.proofs.write_atomically", refuse)
    assert few("lessons") == (0, "lessons/proofs.json was not written: Read-only file system\n")
