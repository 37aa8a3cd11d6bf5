"""Which directories are students', with wrappers and ambiguous names."""

from pathlib import Path

import pytest

from tests.attacks.test_ownership import EARLY, FORGED, HERS, HIS, LESSONS, STOLEN, made, metadata
from tests.cases import for_each
from tutor.grading.student_names import normalize_name
from tutor.grading.submission_files import Unusable
from tutor.grading.submissions import Submissions

# --- a wrapper around the students -----------------------------------------------------------

STRAY = {"readme.md": "", "roster.csv": "", ".DS_Store": "", "__MACOSX/._x": ""}
REFUSED = None
WRAPPED: dict[str, tuple[dict[str, str], set[str] | None]] = {
    "one": ({"hw1/anna/x.py": HERS, "hw1/ben/x.py": HERS, "hw1/carl/x.py": HERS},
            {"anna", "ben", "carl"}),
    "one, with the lesson's name": ({"hw1/anna/double.py": HERS, "hw1/ben/double.py": HIS},
                                    {"anna", "ben"}),
    "two": ({"class/hw1/anna/x.py": HERS, "class/hw1/ben/x.py": HERS}, {"anna", "ben"}),
    "stray files next to it": (
        {**STRAY, "hw1/anna/x.py": HERS, "hw1/ben/x.py": HIS}, {"anna", "ben"}
    ),
    "stray files in it": (
        {**{f"hw1/{name}": "" for name in STRAY}, "hw1/anna/x.py": HERS, "hw1/ben/x.py": HIS},
        {"anna", "ben"},
    ),
    "the same name twice": ({"hw/hw/anna/double.py": HERS}, {"anna"}),
    "one in it who handed nothing in": (
        {"hw1/anna/x.py": HERS, "hw1/ben/x.py": HIS, "hw1/carl/x.pdf": ""},
        {"anna", "ben", "carl"},
    ),
    "around a folder of a lesson": (
        {"hw1/double/anna.py": HERS, "hw1/double/ben.py": HIS}, REFUSED
    ),
    "around files": ({"hw1/anna.py": HERS, "hw1/ben.py": HIS}, REFUSED),
    "around files that name the lesson": (
        {"hw1/anna_double.py": HERS, "hw1/ben_double.py": HERS}, REFUSED
    ),
    "around one student": ({"hw1/anna/double.py": HERS}, REFUSED),
    "the starter in it": (
        {"hw1/double.py": HIS, "hw1/anna/double.py": HERS, "hw1/ben/double.py": HERS}, REFUSED
    ),
    "a student's file in it": (
        {"hw1/carl.py": HIS, "hw1/anna/x.py": HERS, "hw1/ben/x.py": HERS}, REFUSED
    ),
    "none: one student": ({"anna/double.py": HERS}, {"anna"}),
    "none: one student with helpers": (
        {"anna/double.py": HERS, "anna/lib/a.py": "", "anna/notes.txt": ""}, {"anna"}
    ),
    "none: one student, one file": ({"anna/homework.py": HERS}, {"anna"}),
    "none: one student with folders of lessons": (
        {"anna/double/a.py": HERS, "anna/tall/b.py": HERS}, {"anna"}
    ),
    "none: others handed nothing in": ({"anna/week 1/double.py": HERS, "ben/x.pdf": ""},
                                       {"anna", "ben"}),
    "none: folders of lessons": ({"double/anna.py": HERS, "double/ben.py": HIS}, {"anna", "ben"}),
    "none: folders of lessons with folders": (
        {"double/anna/a.py": HERS, "double/ben_double.py": HERS, "tall/carl/b.py": HERS},
        {"anna", "ben"},
    ),
}  # fmt: skip


@for_each("zip_it", [False, True], ids=["folder", "zip"])
@for_each("what", WRAPPED)
def test_a_wrapper_is_not_mistaken_for_a_student(what: str, zip_it: bool, tmp_path: Path):
    files, names = WRAPPED[what]
    path = made(tmp_path / "a", files, zip_it)
    if names is REFUSED:
        with pytest.raises(Unusable, match=r"one student's directory.*--no-wrapper.*grade "):
            Submissions(path, ["double"], LESSONS)
        with Submissions(path, ["double"], LESSONS, wrapper=False) as submissions:
            assert {one.name for one in submissions.all} == {"hw1"}
        return
    with Submissions(path, ["double"], LESSONS) as submissions:
        assert {one.name for one in submissions.all} == names
        sources_graded = {one.source for one in submissions.all if not one.fault}
    sources = {name for name in files if name.endswith(".py")}
    assert sources_graded <= sources and len(sources_graded) >= len(names) - 1


def test_an_export_in_a_possible_students_directory_is_not_trusted(tmp_path: Path):
    files = {"mallory/submission_metadata.yml": FORGED, "mallory/submission_13/double.py": STOLEN,
             "mallory/submission_12/double.py": STOLEN}  # fmt: skip
    with pytest.raises(Unusable, match="--no-wrapper"):
        Submissions(made(tmp_path / "a", files), ["double"], LESSONS)
    with Submissions(tmp_path / "a" / "hw", ["double"], LESSONS, wrapper=False) as submissions:
        assert [one.name for one in submissions.all] == ["mallory"]
    # If the grader names it, it is trusted.
    with Submissions(tmp_path / "a" / "hw" / "mallory", ["double"], LESSONS) as submissions:
        assert {one.name for one in submissions.all} == {"Anna Lee", "submission_12"}


# --- names that look the same ----------------------------------------------------------------

SAME = {
    "spaces": ("Anna Lee", "Anna  Lee"),
    "accents": ("Jos\u00e9", "Jose\u0301"),
    "directions": ("anna", "anna\u202e"),
    "nothing to see": ("anna", "an\u200bna"),
    "a filler": ("anna", "anna\u3164"),
    "a blank": ("Anna Lee", "Anna\u2800Lee"),
}
ALIKE = {
    "case": ("Anna Lee", "anna lee"),
    "case and spaces": ("Anna Lee", "anna  lee"),
    "width": ("anna", "\uff41\uff4e\uff4e\uff41"),
    "what has no picture": ("anna\ue000", "anna\ue001"),
}


def two(names: tuple[str, str], layout: str, folder: Path) -> Path:
    """Write two submissions with these names in one of the layouts."""
    one, other = names
    match layout:
        case "files":
            files = {f"{one}.py": HERS, f"{other}.py": HIS}
        case "files of lessons":
            files = {f"{one}_double.py": HERS, f"{other}_double.py": HIS}
        case "folders":
            files = {f"{one}/double.py": HERS, f"{other}/double.py": HIS, "zoe/double.py": HIS}
        case "lessons":
            files = {f"double/{one}.py": HERS, f"double/{other}/double.py": HIS}
        case _:
            rows = f"{one},double,1.py\n{other},double,2.py\n"
            files = {"t.csv": f"submission,lesson,path\n{rows}", "1.py": HERS, "2.py": HIS}
    return made(folder, files) / ("t.csv" if layout == "table" else "")


LAYOUTS = ["files", "files of lessons", "folders", "lessons", "table"]


@for_each("layout", LAYOUTS)
@for_each("what", SAME)
def test_equal_names_of_two_students_need_review(what: str, layout: str, tmp_path: Path):
    with Submissions(two(SAME[what], layout, tmp_path / "a"), ["double"], LESSONS) as submissions:
        (one,) = [one for one in submissions.all if one.name != "zoe"]
    assert one.fault and "look the same" in one.fault
    assert one.name == normalize_name(SAME[what][0])


@for_each("layout", LAYOUTS)
@for_each("what", ALIKE)
def test_similar_names_are_graded_separately_and_reported(what: str, layout: str, tmp_path: Path):
    with Submissions(two(ALIKE[what], layout, tmp_path / "a"), ["double"], LESSONS) as submissions:
        found = {one.name: one for one in submissions.all if one.name != "zoe"}
        texts = {submissions.read(one.source).decode() for one in found.values()}
    assert [*sorted(found)] == sorted(map(normalize_name, ALIKE[what])) and texts == {HERS, HIS}
    assert not any(one.fault for one in found.values())
    assert any("look the same" in problem for problem in submissions.problems)


def test_a_name_cannot_imitate_a_numbered_namesake(tmp_path: Path):
    metadata_text = metadata(
        ("submission_1", "Anna Lee", "7", EARLY), ("submission_2", "Anna Lee", "8", EARLY),
        ("submission_3", "Anna Lee (7)", "9", EARLY),
    )  # fmt: skip
    files = {f"submission_{n}/double.py": text for n, text in ((1, HERS), (2, HERS), (3, HIS))}
    path = made(tmp_path / "a", files | {"submission_metadata.yml": metadata_text})
    with Submissions(path, ["double"], LESSONS) as submissions:
        found = {one.name: one.fault for one in submissions.all}
    assert found["Anna Lee (8)"] == ""
    assert "look the same" in found["Anna Lee (7)"]


def test_a_name_that_imitates_moodles_is_unmatched(tmp_path: Path):
    claim = "Ben_102_assignsubmission_file_x_103_assignsubmission_file_"
    files = {f"{claim}/double.py": STOLEN, "Ben_102_assignsubmission_file_/double.py": HIS}
    with Submissions(made(tmp_path / "a", files), ["double"], LESSONS) as submissions:
        assert [one.source for one in submissions.all] == [
            "Ben_102_assignsubmission_file_/double.py"
        ]
    assert any(claim in problem for problem in submissions.problems)


def test_no_student_can_be_named_like_the_wildcard(tmp_path: Path):
    path = made(tmp_path / "a", {"*/double.py": STOLEN, "anna/double.py": HERS})
    with Submissions(path, ["double"], LESSONS) as submissions:
        assert {one.name: bool(one.fault) for one in submissions.all} == {"*": True, "anna": False}
