"""Remarks: what could be better in a lesson that can be used, each with its place and its code."""

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import jaxtutor
from tutor.authoring.lint import lint
from tutor.authoring.new import new_pack
from tutor.authoring.remarks import BRIEF_LINES, REMARKS
from tutor.pack import built_in

LESSON = "basics/standardize.yaml"


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    new_pack(Path("mine"))
    return Path("mine")


def edit(pack: Path, *edits: tuple[str, str]) -> str:
    """Replace texts in the lesson. **Returns:** what it holds then."""
    text = (pack / LESSON).read_text()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (pack / LESSON).write_text(text)
    return text


def remarked(pack: Path) -> list[tuple[str, str]]:
    """The codes, each with what stands at its place."""
    found = lint(pack)
    assert not found.problems, found.problems
    lines = (pack / LESSON).read_text().splitlines()
    assert all(one.file == f"mine/{LESSON}" and one.remedy for one in found.remarks)
    return [(one.code, lines[one.line - 1][one.column - 1 :]) for one in found.remarks]


CASES = [
    ("no-schema", "# yaml-language-server: $schema=../schema/lesson.json\n", "", "id: standardize"),
    (
        "unwritten",
        "title: Standardize",
        "title: TODO Standardize",
        "TODO Standardize the columns of a table",
    ),
    (
        "unwritten",
        "And in JAX you",
        "And in JAX (TODO) you",
        "TODO) you write it for one column. `jax.vmap(f, in_axes=1, out_axes=1)` is the same",
    ),
    ("long-brief", "  ### Write\n", "  x\n\n" * BRIEF_LINES + "  ### Write\n", "|"),
    (
        "wide-code",
        "      return (x - x.mean()) / x.std()\n",
        "      return (x - x.mean()) / x.std()  #" + " and so on" * 5 + "\n",
        "d so on and so on",
    ),
    (
        "few-hints",
        '  - "`columns(x)` is `jax.vmap(standardize, in_axes=1, out_axes=1)(x)`."\n',
        "",
        "- A column has a mean and a standard deviation;",
    ),
    ("unused-input", "mean=1, scale=3)\n", "scale=3)\n  y: normal(n, d)\n", "normal(n, d)"),
    (
        "unused-input",
        "    why: PyTorch's std",
        "    inputs: {z: normal(n)}\n    why: PyTorch's std",
        "normal(n)}",
    ),
    ("unused-size", "  d: [3, 4]\n", "  d: [3, 4]\n  k: 5\n", "5"),
    ("equal-sizes", "  d: [3, 4]\n", "  d: [3, 7]\n", "[7, 6]"),
    ("no-why", "    why: PyTorch's std divides by n - 1.\n", "", "name: one column"),
    (
        "expect-without-torch",
        "value: columns(x)\n",
        'value: columns(x).shape[1]\n    expect: "x.shape[1]"\n',
        'x.shape[1]"',
    ),
    ("few-words", "says: Every column has its own mean", 'says: "3"', '3"'),
    ("edit-misses", "{ddof=1: ddof=0}", "{ddof=2: ddof=0}", "{ddof=2: ddof=0}"),
]


@pytest.mark.parametrize(("code", "old", "new", "place"), CASES)
def test_a_remark_stands_where_its_cause_is(pack: Path, code: str, old: str, new: str, place: str):
    edit(pack, (old, new))
    found = remarked(pack)
    assert [one for one, _ in found] == [code], found
    assert found[0][1].startswith(place)


def test_a_lesson_that_only_looks_at_itself_is_remarked(pack: Path):
    text = (pack / LESSON).read_text()
    checks = text[text.index("checks:") : text.index("# Wrong answers")]
    edit(pack, (checks, "checks:\n  - pure: columns(x)\n    why: It is.\n"))
    text = (pack / LESSON).read_text()
    (pack / LESSON).write_text(text[: text.index("# Wrong answers")])
    assert [code for code, _ in remarked(pack)] == ["no-mistakes", "no-comparison"]


@pytest.mark.parametrize("expect", ['"[3.0, 4.0]"', '"True"', "x"])
def test_what_is_expected_without_a_computation_needs_no_torch(pack: Path, expect: str):
    edit(pack, ("value: columns(x)\n", f"value: columns(x)\n    expect: {expect}\n"))
    assert remarked(pack) == []


def test_of_the_course_nothing_is_remarked():
    found = lint(built_in())
    assert found.lessons and not (found.problems or found.remarks)


def test_a_missing_solution_is_remarked(pack: Path):
    (pack / "solutions/basics/standardize.py").unlink()
    assert remarked(pack) == [("no-solution", "standardize")]


def test_a_solution_that_is_no_text_is_a_problem(pack: Path):
    (pack / "solutions/basics/standardize.py").write_bytes(b"\xff")
    (problem,) = lint(pack).problems
    assert "cannot be read" in problem.message


def test_an_old_schema_is_remarked(pack: Path):
    (pack / "schema/lesson.json").write_text("{}")
    (remark,) = lint(pack).remarks
    assert (remark.code, remark.remedy) == ("no-schema", "run: python -m tutor.schema mine/schema")


def test_every_remark_is_tried_here():
    others = {"no-comparison", "no-mistakes", "no-solution"}
    assert {code for code, *_ in CASES} | others == REMARKS.keys()


def test_the_course_has_no_problems_and_helps_editors():
    found = lint(built_in())
    assert not found.problems
    assert "no-schema" not in {remark.code for remark in found.remarks}


# --- the command -----------------------------------------------------------------------------


def test_the_exit_code_tells_problems_from_remarks(pack: Path):
    def code(*more: str) -> int:
        return jaxtutor("pack", "lint", "mine", *more, pack=None).returncode

    assert (code(), code("--strict")) == (0, 0)
    edit(pack, ("    why: PyTorch's std divides by n - 1.\n", ""))
    assert (code(), code("--strict")) == (0, 1)
    edit(pack, ("minutes: 5", "minutes: five"))
    assert (code(), code("--strict")) == (2, 2)


def test_json_holds_the_same(pack: Path):
    edit(pack, ("    why: PyTorch's std divides by n - 1.\n", ""))
    done = jaxtutor("pack", "lint", "mine", "--json", pack=None)
    found = json.loads(done.stdout)
    assert (found["problems"], found["lessons"]) == ([], 1)
    (remark,) = found["remarks"]
    assert remark == {
        "file": f"mine/{LESSON}", "line": 61, "column": 5, "code": "no-why",
        "message": "the check 'one column' does not say why",
        "remedy": "add `why: …`, which is told to who fails it",
    }  # fmt: skip


def test_what_is_no_pack_is_told(tmp_path: Path):
    done = jaxtutor("pack", "lint", str(tmp_path / "nothing"), pack=None)
    assert done.returncode == 2
    assert b"pack.yaml:1:1: cannot be read" in done.stdout
    assert b"jaxtutor pack new DIR" in done.stdout


def test_new_and_add_tell_what_they_made_and_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    done = jaxtutor("pack", "new", "fresh", pack=None)
    assert done.returncode == 0
    assert b"fresh/pack.yaml\n" in done.stdout
    assert b"Next: jaxtutor pack lint fresh\n" in done.stdout
    assert jaxtutor("pack", "new", "fresh", pack=None).returncode == 2
    done = jaxtutor("pack", "add", "cosine", pack=Path("fresh"))
    assert done.returncode == 0
    assert b"Change what is in fresh/basics/cosine.yaml" in done.stdout
    done = jaxtutor("pack", "add", "cosine", pack=Path("fresh"))
    assert done.returncode == 2
    assert done.stderr.startswith(b"jaxtutor: there is fresh/basics/cosine.yaml already;")
