"""Matching submissions in every layout, right and wrong."""

import contextlib
import json
import os
import stat
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.grading.lesson_names import match_lesson
from tutor.grading.notebook import BadNotebook, notebook_code
from tutor.grading.submission_files import Unreadable, Unusable
from tutor.grading.submissions import Submissions, read_code

DOUBLE = "def double(x):\n    return 2 * x\n"
TALL = "def tall(x):\n    return x.T\n"
BOTH = ("double", "tall")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """An empty directory."""
    path = tmp_path / "here"
    path.mkdir()
    return path


def folder(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return root


def zipped(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def read(
    path: Path, lessons: Sequence[str] = BOTH
) -> tuple[dict[tuple[str, str], str], list[str], Submissions]:
    """Return the source of each submission, or its fault after an exclamation mark."""
    with Submissions(path, lessons, BOTH) as found:
        sources = {(s.name, s.lesson): f"!{s.fault}" if s.fault else s.source for s in found.all}
    return sources, found.problems, found


# --- layouts ---------------------------------------------------------------------------------


def test_files_named_after_students(here: Path):
    sources, problems, _ = read(
        folder(here, {"anna.py": DOUBLE, "Bén Lee.py": DOUBLE, "王芳.ipynb": "{}"}), ["double"]
    )
    assert sources == {
        ("anna", "double"): "anna.py",
        ("Bén Lee", "double"): "Bén Lee.py",
        ("王芳", "double"): "王芳.ipynb",
    }
    assert not problems


def test_files_named_after_student_and_lesson(here: Path):
    files = {"anna_double.py": DOUBLE, "anna-tall.py": TALL, "Ben Lee double final.py": DOUBLE}
    sources, problems, _ = read(folder(here, files))
    assert sources == {
        ("anna", "double"): "anna_double.py",
        ("anna", "tall"): "anna-tall.py",
        ("Ben Lee final", "double"): "Ben Lee double final.py",
    }
    assert not problems


def test_a_directory_per_student_with_several_lessons(here: Path):
    files = {
        "anna/double.py": DOUBLE, "anna/tall.py": TALL, "anna/week 1/README.md": "",
        "ben/week1/Double.py": DOUBLE, "carl/tall/answer.py": TALL,
    }  # fmt: skip
    sources, problems, found = read(folder(here, files))
    assert sources == {
        ("anna", "double"): "anna/double.py",
        ("anna", "tall"): "anna/tall.py",
        ("ben", "double"): "ben/week1/Double.py",
        ("carl", "tall"): "carl/tall/answer.py",
    }
    assert [(one.name, one.lesson) for one in found.all] == [*sources]
    assert not problems


def test_one_students_directory(here: Path):
    sources, _, _ = read(folder(here / "anna", {"double.py": DOUBLE, "tall.py": TALL}))
    assert sources == {("anna", "double"): "double.py", ("anna", "tall"): "tall.py"}


def test_other_lessons_are_ignored(here: Path):
    files = {"anna/double.py": DOUBLE, "anna/tall.py": TALL, "ben/tall.py": TALL}
    sources, problems, _ = read(folder(here, files), ["double"])
    assert sources == {("anna", "double"): "anna/double.py"}
    assert not problems


@pytest.mark.parametrize("top", ["", "hw1/", "assignment_7_export/"])
def test_a_zip_with_and_without_a_wrapper(here: Path, top: str):
    files = {f"{top}anna/double.py": DOUBLE, f"{top}ben/double.py": DOUBLE}
    files |= {f"__MACOSX/{top}anna/._double.py": "", f"{top}anna/.DS_Store": ""}
    sources, problems, _ = read(zipped(here / "hw1.zip", files))
    assert [*sources] == [("anna", "double"), ("ben", "double")]
    assert not problems


GRADESCOPE = """---
submission_11:
  :submitters:
  - :name: Anna Lee
    :sid: '7'
    :email: a@x.edu
  :created_at: 2026-03-02 13:21:25.343455000 Z
  :score: 3.0
  :results:
    tests:
    - {name: [a, b], score: 1}
submission_12:
  :submitters:
  - :name: Ben
    :email: b@x.edu
  - :name: "Zo\\xEB"
  :created_at: 2026-03-01 10:00:00 Z
submission_13:
  :submitters:
  - :name: Anna Lee
    :sid: '8'
"""


@pytest.mark.parametrize("zip_it", [True, False])
def test_a_gradescope_export(here: Path, zip_it: bool):
    top = "assignment_1_export"
    files = {f"{top}/submission_{n}/double.py": DOUBLE for n in (11, 12, 13, 14)}
    files[f"{top}/submission_metadata.yml"] = GRADESCOPE
    path = zipped(here / "a.zip", files) if zip_it else folder(here / "a", files) / top
    sources, problems, found = read(path, ["double"])
    assert [name for name, _ in sources] == [
        "Anna Lee (7)",
        "Anna Lee (8)",
        "Ben & Zoë",
        "submission_14",
    ]
    assert {one.name: one.submitted_at for one in found.all}["Ben & Zoë"] == "2026-03-01 10:00:00 Z"
    assert not problems


def test_unreadable_metadata_is_reported_with_line_and_column(here: Path):
    files = {"submission_1/double.py": DOUBLE, "submission_metadata.yml": "a: [1\nb: 2\n"}
    sources, problems, _ = read(folder(here, files))
    assert sources == {("submission_1", "double"): "submission_1/double.py"}
    (problem,) = problems
    assert problem.startswith("submission_metadata.yml:2:") and "export" in problem


@pytest.mark.parametrize("zip_it", [True, False])
def test_a_moodle_export(here: Path, zip_it: bool):
    files = {
        "Anna Lee_101_assignsubmission_file_/double.py": DOUBLE,
        "Anna Lee_102_assignsubmission_file_/double.py": DOUBLE,
        "José Ñ_103_assignsubmission_file_homework.py": DOUBLE,
        "Ben_104_assignsubmission_onlinetext_/onlinetext.html": "<p>",
    }
    path = zipped(here / "m.zip", files) if zip_it else folder(here / "m", files)
    sources, problems, _ = read(path, ["double"])
    assert [name for name, _ in sources] == ["Anna Lee (101)", "Anna Lee (102)", "José Ñ"]
    (problem,) = problems
    assert "typed into Moodle" in problem


def test_a_table_of_paths(here: Path):
    files = {"x/1.py": DOUBLE, "2.py": TALL}
    rows = (
        "submission,lesson,path,submitted_at\n"
        "Anna Lee,double,x/1.py,2026-03-01T10:00:00Z\n"
        "Ben,tall,2.py,\n"
        "Carl,tall,gone.py,\n"
        "Dora,tall,a.pdf,\n"
        "Eve,tall,2.py,\nEve,tall,x/1.py,\n"
    )
    path = folder(here, {**files, "table.csv": rows}) / "table.csv"
    sources, _, found = read(path)
    assert sources["Anna Lee", "double"] == "x/1.py"
    assert found.all[0].submitted_at == "2026-03-01T10:00:00Z"
    assert found.read("x/1.py").decode() == DOUBLE
    assert "a.pdf: not a Python file" in sources["Dora", "tall"]
    assert "more than once: 2.py, x/1.py" in sources["Eve", "tall"]
    with pytest.raises(Unreadable, match=r"gone\.py: No such file"):
        found.read("gone.py")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("name,path\n", "table.csv:1:1: there is no column 'submission'"),
        (
            "submission,lesson,path\nanna,dubble,1.py\n",
            "table.csv:2:1: the pack has no lesson 'dubble'; did",
        ),
        ("submission,lesson,path\n,double,1.py\n", "table.csv:2:1: a row needs"),
        (b"submission,lesson,path\nanna\xff,double,1.py\n", "table.csv:2:5: byte 0xff"),
    ],
)
def test_a_wrong_table_is_reported_with_line_and_column(
    here: Path, rows: str | bytes, message: str
):
    path = folder(here, {"table.csv": rows}) / "table.csv"
    with pytest.raises(Unusable, match="table") as error:
        read(path)
    assert message in str(error.value)


def test_a_table_with_semicolons(here: Path):
    files = {"t.csv": "\ufeffSubmission;Lesson;Path\r\nanna;double;1.py\r\n", "1.py": DOUBLE}
    assert read(folder(here, files) / "t.csv")[0] == {("anna", "double"): "1.py"}


# --- names -----------------------------------------------------------------------------------


@for_each(
    ("name", "lesson", "rank"),
    [
        ("vmap-basics", "vmap-basics", 0),
        ("VmapBasics", "vmap-basics", 0),
        ("vmap_basics", "vmap-basics", 0),
        ("vmap-basics (1)", "vmap-basics", 1),
        ("vmap-basics-2", "vmap-basics", 1),
        ("Copy of vmap basics", "vmap-basics", 1),
        ("anna_vmap_basics_final", "vmap-basics", 2),
        ("vmap", None, None),
        ("vmap-bascis", "vmap-basics", 4),
        ("grad-basic", "grad-basics", 4),
        ("basics", None, None),
        ("utils", None, None),
        ("vmap-basics-grad-basics", None, None),
        ("", None, None),
    ],
)
def test_files_match_lessons_by_name(name: str, lesson: str | None, rank: int | None):
    found = match_lesson(name, (), ("vmap-basics", "grad-basics", "random-keys"))
    assert (found.lesson, found.rank) == (lesson, rank) if found else lesson is None


def test_a_name_that_could_be_two_lessons_matches_none():
    assert match_lesson("matmul-3", (), ("matmul-1a", "matmul-1b")) is None


def test_misspelled_names_are_matched_or_reported(here: Path):
    files = {"anna/duoble.py": DOUBLE, "ben/homework.py": DOUBLE, "carl/a.py": "", "carl/b.py": ""}
    sources, problems, found = read(folder(here, files))
    assert sources == {("anna", "double"): "anna/duoble.py"}
    assert found.all[0].notes == ("duoble.py was graded as double: the closest name",)
    assert len(problems) == 3
    assert all("no lesson has this name" in problem for problem in problems)
    sources, problems, _ = read(here, ["double"])
    assert sources["ben", "double"] == "ben/homework.py"  # the only file, for the only lesson
    assert "which file is it? There are: carl/a.py, carl/b.py" in sources["carl", "double"]
    assert not problems


@pytest.mark.parametrize("zip_it", [True, False])
def test_duplicates_need_review_unless_they_are_equal(here: Path, zip_it: bool):
    files = {
        "anna/double.py": DOUBLE, "anna/double (1).py": DOUBLE.replace("2", "3"),
        "ben/double.py": DOUBLE, "ben/sub/double.py": DOUBLE,
        "carl/double.py": DOUBLE, "carl/double.ipynb": "{}",
        "dora/double.py": DOUBLE, "dora/doubled.py": TALL,
    }  # fmt: skip
    path = zipped(here / "z.zip", files) if zip_it else folder(here / "z", files)
    sources, _, found = read(path)
    assert "keep the one that counts" in sources["anna", "double"]
    assert sources["ben", "double"] == "ben/double.py"
    assert "keep the one that counts" in sources["carl", "double"]
    notes = {one.name: one.notes for one in found.all}
    assert "always the same" in notes["ben"][0]
    assert notes["dora"] == ("ignored: dora/doubled.py",)


def test_a_student_without_a_source_file_is_reported(here: Path):
    files = {"anna/answer.docx": "x", "ben/x.txt": "y", "stray.pdf": "z"}
    (folder(here, files) / "carl").mkdir()
    sources, problems, _ = read(here)
    assert not sources
    assert sorted(problem.partition(":")[0] for problem in problems) == [
        "anna", "ben", "carl", "stray.pdf",
    ]  # fmt: skip
    sources, problems, _ = read(here, ["double"])
    assert "no Python file" in sources["anna", "double"]
    assert len(problems) == 2


def test_accents_written_in_two_ways_are_one_name(here: Path):
    files = {"Jose\u0301/double.py": DOUBLE, "Zoe\u0308 _tall.py": TALL}
    sources, _, _ = read(folder(here, files))
    assert [*sources] == [("José", "double"), ("Zoë", "tall")]


def test_unprintable_names_are_refused(here: Path):
    files = {"an\x1bna/double.py": DOUBLE, "b\ne.py": DOUBLE, "carl/double.py": DOUBLE}
    sources, problems, _ = read(folder(here, files))
    assert [*sources] == [("carl", "double")]
    assert len(problems) == 2
    assert all(problem.isprintable() for problem in problems)


@pytest.mark.skipif(os.name == "nt", reason="such names cannot be made there")
def test_names_that_are_not_unicode_are_refused(here: Path):
    (here / "anna").mkdir()
    Path(os.fsdecode(os.fsencode(here) + b"/anna/dou\xff.py")).write_bytes(b"x")
    sources, problems, _ = read(here)
    assert not sources
    assert any("unprintable" in problem for problem in problems)
    json.dumps(problems).encode()


# --- files that are refused ---------------------------------------------------------------------


def test_links_are_refused_wherever_they_lead(here: Path):
    secret = folder(here / "secret", {"double.py": DOUBLE})
    root = folder(here / "hw", {"anna/double.py": DOUBLE, "ben/tall.py": TALL})
    (root / "carl").mkdir()
    (root / "carl" / "double.py").symlink_to(secret / "double.py")
    (root / "dora").symlink_to(secret)
    (root / "ben" / "double.py").symlink_to("tall.py")
    (root / "eve").mkdir()
    (root / "eve" / "double.py").symlink_to("double.py")
    sources, problems, found = read(root)
    assert sources == {("anna", "double"): "anna/double.py", ("ben", "tall"): "ben/tall.py"}
    linked = [problem.partition(":")[0] for problem in problems if ": a symbolic link" in problem]
    assert linked == ["ben/double.py", "carl/double.py", "dora", "eve/double.py"]
    # Replaced by a link after the check.
    (root / "ben" / "tall.py").unlink()
    (root / "ben" / "tall.py").symlink_to(secret / "double.py")
    with pytest.raises(Unreadable, match="a symbolic link"):
        found.read("ben/tall.py")


def test_a_link_in_a_table_is_refused(here: Path):
    folder(here, {"s.py": DOUBLE, "t.csv": "submission,lesson,path\nanna,double,1.py\n"})
    (here / "1.py").symlink_to("s.py")
    with pytest.raises(Unreadable, match="a symbolic link"):
        read(here / "t.csv")[2].read("1.py")


@pytest.mark.skipif(os.name == "nt", reason="there are no pipes in folders")
def test_pipes_are_not_read(here: Path):
    (here / "anna").mkdir()
    os.mkfifo(here / "anna" / "double.py")
    sources, problems, _ = read(here)
    assert not sources
    assert "anna/double.py: not a regular file" in problems


def test_dangerous_zip_members_are_refused_one_by_one(here: Path):
    path = zipped(here / "hw.zip", {"anna/double.py": DOUBLE, "bomb/double.py": b"#" * 10**7})
    link = zipfile.ZipInfo("carl/double.py")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("../dora/double.py", DOUBLE)
        archive.writestr("/eve/double.py", DOUBLE)
    sources, problems, _ = read(path)
    assert sources == {("anna", "double"): "anna/double.py"}
    assert len([p for p in problems if "empty directory" not in p]) == 4


@pytest.mark.parametrize("data", [b"", b"no zip at all", b"PK\x05\x06" + b"\xff" * 18])
def test_a_damaged_zip_is_refused(here: Path, data: bytes):
    (here / "hw.zip").write_bytes(data)
    with pytest.raises(Unusable, match=r"hw\.zip"):
        read(here / "hw.zip")


def test_a_damaged_member_is_reported_when_read(here: Path):
    path = zipped(here / "hw.zip", {"anna/double.py": os.urandom(5000)})
    data = bytearray(path.read_bytes())
    data[200] ^= 255
    path.write_bytes(data)
    with Submissions(path, BOTH) as found, pytest.raises(Unreadable, match="damaged in the zip"):
        found.read("anna/double.py")


@pytest.mark.parametrize(
    ("path", "message"),
    [("gone", "no such file or directory"), ("x.tar", "expected a directory, a .zip or a .csv")],
)
def test_unusable_submissions_are_refused(here: Path, path: str, message: str):
    folder(here, {"x.tar": "x"})
    with pytest.raises(Unusable, match=message):
        read(here / path)


# --- contents of files -------------------------------------------------------------------------


def notebook(*cells: str | tuple[str, str], version: int = 4) -> bytes:
    made = [
        {"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []}
        if isinstance(cell, str)
        else {"cell_type": cell[0], "source": cell[1]}
        for cell in cells
    ]
    if version == 3:
        sheets = [{"cells": [{**c, "input": c["source"]} for c in made]}]
        return json.dumps({"worksheets": sheets, "nbformat": 3}).encode()
    return json.dumps({"cells": made, "nbformat": version}).encode()


@pytest.mark.parametrize("version", [3, 4])
def test_a_notebooks_code_is_its_code_cells_in_order(version: int):
    data = notebook(("markdown", "# Title"), "a = 1\n", "", "b = (a\n% 2)", version=version)
    assert notebook_code(data) == "# cell 2\na = 1\n\n# cell 4\nb = (a\n% 2)\n"


@for_each(
    ("cells", "message"),
    [
        (["x = 1", "import os\n%matplotlib inline\n"], "cell 2, line 2: `%matplotlib inline`"),
        (["!pip install flax"], "cell 1, line 1: `!pip install flax`"),
        (["%%time\nx = 1"], "cell 1, line 1: `%%time`"),
        (["files = !ls"], "cell 1, line 1: `files = !ls`"),
        (["jnp.dot?"], "cell 1, line 1: `jnp.dot?`"),
        (["if True:\n    %timeit f()"], "cell 1, line 2: `%timeit f()`"),
        ([], "without a line of code"),
        ([("markdown", "x")], "without a line of code"),
    ],
)
def test_ipython_syntax_is_reported_with_cell_and_line(cells: list[str], message: str):
    with pytest.raises(BadNotebook) as error:
        notebook_code(notebook(*cells))
    assert message in str(error.value)


def test_a_syntax_error_in_a_notebook_is_not_magic():
    assert "x = = 2" in notebook_code(notebook("x = = 2  # 50 % of it?"))


@given(st.text("a.[] \t=%!?(", max_size=30), st.integers(1, 300_000))
@settings(max_examples=30, deadline=None)
def test_a_cell_that_is_not_python_is_read_in_a_moment(part: str, length: int):
    """Each line is looked at in time proportional to its length: 300 KB took minutes."""
    line = (part + " " * length + part)[:300_000]
    with contextlib.suppress(BadNotebook):
        notebook_code(notebook(f"x = = 1\n{line}"))


@for_each(
    "data",
    [
        b"",
        b"x = 1",
        b"[]",
        b"{}",
        b'{"cells": 3}',
        b'{"cells": [{"cell_type": "code", "source": 3}]}',
        b'{"a":' * 5000,
        b"\xff\xfe",
    ],
)
def test_invalid_notebooks_are_refused(data: bytes):
    with pytest.raises(BadNotebook):
        notebook_code(data)


@for_each(
    ("data", "message"),
    [
        (b"", "a.py: the file is empty"),
        (b" \n\t\n", "a.py: the file is empty"),
        (b"PK\x03\x04\xff\xfe\x00", "is not UTF-8"),
        (b"# " + b"x" * (1 << 20), "larger than 1024 KiB"),
        ("x = 'ü'".encode("latin-1"), "a.py:1:6: byte 0xfc is not UTF-8"),
    ],
)
def test_invalid_source_files_are_refused(data: bytes, message: str):
    with pytest.raises(Unreadable) as error:
        read_code(data, "a.py")
    assert message in str(error.value)


def test_a_huge_file_is_not_read_completely(here: Path):
    path = here / "anna" / "double.py"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(1 << 34)
    with pytest.raises(Unreadable, match="larger than 32 MiB"):
        read(here)[2].read("anna/double.py")
