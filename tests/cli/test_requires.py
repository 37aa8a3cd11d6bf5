"""A lesson whose packages are not installed is skipped by every command, and never broken."""

import json
import shutil
import threading
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.command import Done, called
from tests.conftest import MINI
from tutor.authoring.lint import lint
from tutor.engine.background import RunEvent, RunFinished, Runner, RunStopped
from tutor.engine.session import Session, run
from tutor.grading import batch
from tutor.grading.batch import lesson_hash
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.report import Report

NEEDED = "needs nothing-of-this-name>=1; run: pip install 'nothing-of-this-name>=1'"
LESSON = "basics/tall.yaml"

pytestmark = pytest.mark.usefixtures("forked")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The small pack; the second of its two lessons requires a package that does not exist."""
    folder = Path(shutil.copytree(MINI.parent, tmp_path / "mini")) / "lessons"
    require(folder, '["packaging>=20", "nothing-of-this-name>=1"]')
    return folder


def require(folder: Path, requires: str) -> None:
    text = (MINI / LESSON).read_text()
    assert text.count("minutes:") == 1
    (folder / LESSON).write_text(text.replace("minutes:", f"requires: {requires}\nminutes:"))


def text_of(done: Done) -> str:
    return " ".join(done.stdout.decode().split())


def solution(root: Path) -> str:
    return (root.parent / "solutions" / "basics" / "tall.py").read_text()


def test_check_says_what_is_missing(root: Path):
    done = called("check", "tall", "-", code=solution(root), pack=root)
    assert done.returncode == 3
    assert text_of(done) == f"– tall: skipped: {NEEDED}"
    done = called("check", "tall", "-", "--json", code="no Python", pack=root)
    report = Report.from_json(done.stdout)
    assert (report.verdict, report.skipped) == ("internal", NEEDED)
    assert report.fault is not None and report.fault.code == "missing-requirement"
    assert {check.status for check in report.checks} == {"skipped"}
    assert report.first_failure is None


def test_no_sandbox_is_started(root: Path):
    with Session(load_pack(root).lesson("tall"), solution(root)) as session:
        assert session.check(0).skipped
        assert session.main_sandbox is None


def test_watch_and_the_app_get_it_in_place_of_a_verdict(root: Path):
    over = threading.Event()
    reports: list[Report] = []

    def listen(event: RunEvent) -> None:
        if isinstance(event, RunFinished):
            reports.append(event.report)
        if isinstance(event, RunFinished | RunStopped):
            over.set()

    runner = Runner()
    try:
        runner.run(load_pack(root).lesson("tall"), solution(root), listen)
        assert over.wait(30)
    finally:
        runner.close()
    assert [report.skipped for report in reports] == [NEEDED]


def test_other_lessons_are_not_affected(root: Path):
    done = called("check", "double", "-", code="def double(x):\n    return 2 * x\n", pack=root)
    assert done.returncode == 0


def test_once_it_is_installed_the_sandbox_can_import_it(root: Path):
    require(root, '["packaging>=20"]')
    code = "from packaging.version import Version\n\nassert Version('2') > Version('1')\n"
    lesson = load_pack(root).lesson("tall")
    report = run(lesson, code + solution(root))
    assert report.passed, report
    assert report.versions["packaging"]


def test_pack_test_skips_it_and_holds(root: Path, tmp_path: Path):
    junit = tmp_path / "junit.xml"
    done = called("pack", "test", str(root), "--seeds", "1", "--junit", str(junit), pack=None)
    assert done.returncode == 0, done
    assert f"– tall skipped: {NEEDED}" in text_of(done)
    assert "✓ 1 lesson held, 1 skipped" in text_of(done)
    (case,) = ElementTree.parse(junit).findall("testsuite[@name='tall']/testcase")
    assert [(one.tag, one.get("message")) for one in case] == [("skipped", NEEDED)]
    done = called("pack", "test", str(root), "tall", "--seeds", "1", "--json", pack=None)
    found = json.loads(done.stdout)
    assert (found["holds"], found["lessons"][0]["skipped"]) == (True, NEEDED)


def test_a_skipped_lesson_is_not_proved(root: Path):
    arguments = ("--seeds", "20", "--mutate", "--variants")
    done = called("pack", "test", str(root), "tall", *arguments, pack=None)
    assert done.returncode == 0
    assert not (root / "proofs.json").exists()


def test_pack_lint_says_so_and_remarks_as_ever(root: Path):
    done = called("pack", "lint", str(root), "--static", pack=None)
    said = f"note: tall is skipped on this machine: it {NEEDED}"
    assert said in text_of(done)
    assert json.loads(called("pack", "lint", str(root), "--static", "--json", pack=None).stdout)[
        "skipped"
    ] == {"tall": NEEDED}
    usual = {(one.code, one.message) for one in lint(MINI).remarks}
    assert {(one.code, one.message) for one in lint(root).remarks} == usual


def test_pack_lint_still_runs_its_pytorch(root: Path, forks: Forks):
    text = (root / LESSON).read_text()
    assert text.count("torch: |\n") == 1
    (root / LESSON).write_text(text.replace("torch: |\n", "torch: |\n  raise OSError\n\n"))
    found = lint(root, forks.reference)
    assert "no-reference" in {one.code for one in found.remarks}
    assert found.skipped == {"tall": NEEDED}


def test_grade_gives_no_mark_with_the_reason_and_goes_on(root: Path, tmp_path: Path):
    students = tmp_path / "students"
    for lesson in ("double", "tall"):
        (students / "anna").mkdir(parents=True, exist_ok=True)
        code = (root.parent / "solutions" / "basics" / f"{lesson}.py").read_text()
        (students / "anna" / f"{lesson}.py").write_text(code)
    out = tmp_path / "out"
    done = called(
        "grade", str(students), "--out", str(out), "--no-wrapper", "--isolation", "warn", pack=root
    )
    assert done.returncode == 3
    results = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    by_lesson = {one["lesson"]: one for one in results if "lesson" in one}
    assert by_lesson["double"]["verdict"] == "pass"
    assert by_lesson["tall"]["verdict"] == "internal" and by_lesson["tall"]["score"] is None
    assert by_lesson["tall"]["fault"] == f"the lesson {NEEDED}"
    assert f"anna: tall: internal: the lesson {NEEDED}" in done.stderr.decode()


def test_results_depend_on_the_versions_of_what_is_required(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    lesson = load_pack(root).lesson("tall")
    before = lesson_hash(lesson)
    monkeypatch.setattr(batch, "versions", lambda requires: {"nothing-of-this-name": "1.0"})
    assert lesson_hash(lesson) != before
