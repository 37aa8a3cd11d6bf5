"""Kinds of checks that other distributions bring: `tests/packs/custom-check` is one, installed here
as pip installs it, and checked from the outside."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.authoring.test_broken_packs import BROKEN
from tests.stopwatch import GUARD
from tutor import checks
from tutor.authoring.lint import lint
from tutor.checks import unusable_kinds
from tutor.cli import diagnosis
from tutor.engine import references
from tutor.report import Report
from tutor.sandbox import packages

DISTRIBUTION = BROKEN.parent / "custom-check"
PACK = DISTRIBUTION / "pack"
SOLUTION = (PACK / "solutions/analysis/softmax.py").read_text()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the distribution, to be named by `PYTHONPATH`."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run(
        [*pip, "--no-build-isolation", "--target", str(target), str(DISTRIBUTION)],
        check=True,
        timeout=GUARD,
    )
    return target


def python(installed: Path, *arguments: str, code: str = "") -> "subprocess.CompletedProcess[str]":
    """Run Python where the distribution is installed."""
    return subprocess.run(
        [sys.executable, *arguments],
        input=code,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )


def checked(installed: Path, code: str) -> Report:
    tutor = ["-m", "tutor", "check", "softmax", "-", "--json", "--pack", str(PACK)]
    done = python(installed, *tutor, code=code)
    assert not done.stderr, done.stderr
    return Report.from_json(done.stdout)


# --- the example -----------------------------------------------------------------------------


def test_the_solution_passes_with_a_kind_from_elsewhere(installed: Path):
    report = checked(installed, SOLUTION)
    assert [(one.kind, one.status) for one in report.checks] == [
        ("value", "pass"), ("jacobian", "pass"),
    ]  # fmt: skip


def test_the_mistake_is_caught_in_its_words(installed: Path):
    wrong = SOLUTION.replace("e.sum()", "jax.lax.stop_gradient(e.sum())")
    result = checked(installed, wrong).checks[1]
    assert result.status == "fail"
    assert result.message.startswith("the Jacobian: largest difference")
    assert "depends on x too" in result.wants


def test_sandboxes_that_are_forked_have_it_too_and_the_main_process_no_framework(installed: Path):
    program = f"""
import sys
from tutor.engine.session import Session
from tutor.pool.forks import Forks
from tutor.pack import load_pack
pack = load_pack({str(PACK)!r})
lesson = pack.lesson("softmax")
with Forks() as forks:
    forks.compile_programs(lesson, pack.solution("softmax"))
    with Session(lesson, pack.solution("softmax"), sandboxes=forks) as session:
        print(session.check(1).verdict)
print(sorted({{"jax", "torch"}} & sys.modules.keys()), "jaxtutor_jacobian" in sys.modules)
"""
    done = python(installed, "-c", program)
    assert done.stdout == "pass\n[] True\n", done.stderr


def test_its_package_is_let_in_and_nothing_that_lies_beside_it(installed: Path):
    (installed / "beside.txt").write_text("a secret\n")
    (installed / "beside_it.py").write_text("SECRET = 1\n")
    reads = f"""
from pathlib import Path
import jaxtutor_jacobian.inside
print(Path(jaxtutor_jacobian.inside.__file__).name)
for name in ("beside.txt", "beside_it.py"):
    try:
        print(Path({str(installed)!r}, name).read_text())
    except PermissionError:
        print("refused")
try:
    import beside_it
except ModuleNotFoundError as error:
    print(error)
"""
    report = checked(installed, reads + SOLUTION)
    assert report.passed
    assert report.stdout.splitlines() == [
        "inside.py", "refused", "refused", "No module named 'beside_it'",
    ]  # fmt: skip


def test_editors_know_it(installed: Path, tmp_path: Path):
    done = python(installed, "-m", "tutor", "pack", "new", str(tmp_path / "mine"))
    assert done.returncode == 0, done.stderr
    schema = json.loads((tmp_path / "mine/schema/lesson.json").read_text())
    described = schema["$defs"]["Jacobian"]["properties"]["at"]["description"]
    assert described == "The array at which it is evaluated."


def test_where_it_is_not_installed_the_lesson_says_which_kinds_there_are():
    (problem,) = lint(PACK).problems
    assert (problem.line, problem.message) == (33, "this check has no kind")
    assert problem.remedy.startswith("the kinds are: value, shape, grad")


# --- what cannot be used ---------------------------------------------------------------------


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Kinds are found anew in this test, and again after it."""
    before = dict(packages.FOLDERS)
    checks._all_kinds.cache_clear()
    yield
    checks._all_kinds.cache_clear()
    packages.FOLDERS.clear()
    packages.FOLDERS.update(before)
    for name in [name for name in sys.modules if name.partition(".")[0] == "odd_kind"]:
        del sys.modules[name]


KIND = """
from typing import ClassVar
from tutor.check import Check
class Odd(Check, frozen=True, kw_only=True):
    kind: ClassVar[str] = "odd"
    inside: ClassVar[str] = "odd_kind.inside"
    odd: str
"""


@pytest.mark.parametrize(
    ("name", "source", "why"),
    [
        ("odd", "import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("odd", "raise SystemError('no')", "SystemError: no"),
        ("odd", "Odd = 5", "not a subclass of tutor.check.Check"),
        ("odd", KIND.replace('"odd"', '"even"'), "must be the name of its entry point, 'odd'"),
        ("odd", KIND.replace("    odd: str", "    even: str"), "it has no field 'odd'"),
        ("odd", KIND.replace("odd_kind.inside", "os.path"), "os.path, must be in the package"),
        ("odd", KIND.replace("odd_kind.inside", "odd_kind.half"), "odd_kind.half, does not exist"),
        ("odd", KIND.replace(' = "odd_kind.inside"', ""), "its `inside` must name a module"),
        ("value", KIND, "a kind 'value' already exists"),
    ],
)
def test_a_kind_that_cannot_be_used_harms_only_lessons_that_want_it(
    forgotten: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    source: str,
    why: str,
):
    distribution(tmp_path, name, source)
    monkeypatch.syspath_prepend(tmp_path)
    assert why in unusable_kinds()[name]
    assert "odd-kind 2.0" in unusable_kinds()[name]
    told = [
        finding for finding in diagnosis.list_plugin_kinds() if "cannot be used" in finding.detail
    ]
    assert [finding.name for finding in told] == [f"check {name}"] and why in told[0].detail
    assert not lint(BROKEN / "pack").problems
    if name == "odd":
        path = BROKEN / "pack/vectors/norms.yaml"
        wanting = path.read_text().replace("value: norms(m)", "odd: norms(m)")
        found = problems(tmp_path, wanting)
        assert found[0].startswith("44:5: the kind 'odd' cannot be used: odd_kind:Odd of odd-kind")
        assert found[0].endswith("install another version of its package")


def test_a_kind_may_borrow_an_inside_half_of_ours(
    forgotten: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    distribution(tmp_path, "odd", KIND.replace("odd_kind.inside", "tutor.checks.inside.value"))
    monkeypatch.syspath_prepend(tmp_path)
    assert "odd" in checks.kinds()
    assert diagnosis.Diagnostic("check odd", True, "from odd_kind") in diagnosis.list_plugin_kinds()
    assert "odd_kind" not in packages.FOLDERS


def test_another_inside_half_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Answers of PyTorch are remembered as long as what asked for them is the same."""

    def version() -> str:
        references.own_version.cache_clear()
        return references.own_version()

    before = version()
    (tmp_path / "inside.py").write_text("1")
    monkeypatch.setitem(packages.FOLDERS, "odd_kind", str(tmp_path))
    one = version()
    (tmp_path / "inside.py").write_text("2")
    assert len({before, one, version()}) == 3
    monkeypatch.undo()
    assert version() == before


def distribution(folder: Path, name: str, source: str) -> None:
    (folder / "odd_kind").mkdir()
    (folder / "odd_kind/__init__.py").write_text(source)
    (folder / "odd_kind/inside.py").write_text("")
    told = folder / "odd_kind-2.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-kind\nVersion: 2.0\n")
    (told / "entry_points.txt").write_text(f"[jaxtutor.checks]\n{name} = odd_kind:Odd\n")


def problems(folder: Path, lesson: str) -> list[str]:
    from tutor.pack.lesson_reader import LessonReader
    from tutor.pack.yaml_nodes import parse

    reader = LessonReader("norms.yaml")
    reader.lesson(parse(lesson.encode(), "norms.yaml")[0], "vectors", "norms")
    return [str(problem).partition(":")[2] for problem in reader.problems]
