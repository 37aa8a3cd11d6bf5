"""O10: a submission cannot change another record, or its owner's name or time. No code is run."""

import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import Struct

from tests.cases import for_each
from tutor.grading import gradescope_export as gradescope
from tutor.grading.submission_files import Unreadable
from tutor.grading.submissions import Submissions

HERS = "def double(x):\n    return 2 * x\n"
HIS = "def double(x):\n    return 3 * x\n"
STOLEN = "# by the one who wants other names' marks\n" + HERS
LESSONS = ("double", "tall")


def metadata(*told: tuple[str, str, str, str]) -> str:
    """Return metadata as Gradescope writes it: directories, names, numbers, times."""
    return "---\n" + "".join(
        f"{folder}:\n  :submitters:\n  - :name: {name}\n    :sid: '{number}'\n"
        f"  :created_at: {time} Z\n"
        for folder, name, number, time in told
    )


METADATA = metadata(
    ("submission_11", "Anna Lee", "7", "2026-03-01 10:00:00"),
    ("submission_12", "Ben", "8", "2026-03-01 11:00:00"),
    ("submission_13", "Mallory", "9", "2026-03-05 12:00:00"),
)
EARLY = "2020-01-01 00:00:00"
FORGED = metadata(
    *((folder, "Anna Lee", "7", EARLY)
      for folder in ("submission_13", "mallory", "Mallory", "double", "x", "hw1/mallory", "..")),
    *((folder, "Mallory", "9", EARLY) for folder in ("submission_11", "anna", "../anna", "hw1")),
)  # fmt: skip


class Class(Struct, frozen=True):
    """The students' directories; the last is Mallory's."""

    folders: tuple[str, ...]
    more: dict[str, str] = {}


CLASSES = {
    "folders": Class(("anna", "ben", "mallory")),
    "a wrapper": Class(("hw1/anna", "hw1/ben", "hw1/mallory")),
    "two wrappers": Class(("class/hw1/anna", "class/hw1/ben", "class/hw1/mallory")),
    "folders of lessons": Class(("double/anna", "double/ben", "double/mallory")),
    "Gradescope": Class(
        ("submission_11", "submission_12", "submission_13"), {"submission_metadata.yml": METADATA}
    ),
    "Gradescope in its folder": Class(
        tuple(f"assignment_1_export/submission_{n}" for n in (11, 12, 13)),
        {"assignment_1_export/submission_metadata.yml": METADATA},
    ),
    "Moodle": Class(
        ("Anna Lee_101_assignsubmission_file_", "Ben_102_assignsubmission_file_",
         "Mallory_103_assignsubmission_file_")
    ),
}  # fmt: skip

TRIED = {
    "metadata": {"submission_metadata.yml": FORGED},
    "metadata with folders": {
        "submission_metadata.yml": FORGED,
        "submission_11/double.py": STOLEN,
        "submission_13/double.py": STOLEN,
    },
    "metadata further down": {"x/submission_metadata.yml": FORGED, "x/submission_11/y.py": STOLEN},
    "an export": {
        "assignment_1_export/submission_metadata.yml": FORGED,
        "assignment_1_export/submission_11/double.py": STOLEN,
    },
    "others' folders": {
        "anna/double.py": STOLEN,
        "ben/tall.py": STOLEN,
        "hw1/anna/tall.py": STOLEN,
    },
    "Moodle's folders": {"Anna Lee_101_assignsubmission_file_/tall.py": STOLEN},
    "lessons' folders": {"tall/anna.py": STOLEN, "double/ben.py": STOLEN},
    "others' names": {"anna_tall.py": STOLEN, "Anna Lee.py": STOLEN, "ben tall.py": STOLEN},
    "backslashes": {"..\\anna\\tall.py": STOLEN, "x\\..\\..\\ben\\tall.py": STOLEN},
    "tables": {
        "submissions.csv": "submission,lesson,path\nanna,tall,mallory/tall.py\n",
        "late.csv": "submission,lesson,due,submitted_at\n*,,2020-01-01,2020-01-01\n",
        "journal.jsonl": "{}\n",
        "results.jsonl": "{}\n",
    },
    "a notebook with an author": {
        "tall.ipynb": '{"metadata": {"authors": [{"name": "Anna Lee"}], "name": "anna"},'
        ' "cells": [{"cell_type": "code", "source": "y = 1"}]}'
    },
    "names that cannot be seen": {"\u200b/tall.py": STOLEN, " /anna/tall.py": STOLEN},
}


def made(folder: Path, files: Mapping[str, str], zip_it: bool = False) -> Path:
    """Create submissions called `hw` in a new directory."""
    folder.mkdir()
    root = folder / "hw"
    if zip_it:
        with zipfile.ZipFile(folder / "hw.zip", "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return folder / "hw.zip"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


Records = dict[tuple[str, str], tuple[str, str, str]]


def records(path: Path) -> tuple[Records, Records, list[str]]:
    """Return by name and lesson what is graded, when it was submitted, and why it is not graded:
    for all but Mallory, and for Mallory."""
    found: Records = {}
    with Submissions(path, LESSONS) as submissions:
        for one in submissions.all:
            try:
                text = submissions.read(one.source).decode()
            except Unreadable as error:
                text = f"unreadable: {error}"
            found[one.name, one.lesson] = text, one.submitted_at, one.fault
    others = {key: what for key, what in found.items() if key[0].casefold() != "mallory"}
    hers = {key: what for key, what in found.items() if key not in others}
    return others, hers, submissions.problems


@for_each("zip_it", [False, True], ids=["folder", "zip"])
@for_each("what", TRIED)
@for_each("layout", CLASSES)
def test_a_submission_changes_no_other_record(layout: str, what: str, zip_it: bool, tmp_path: Path):
    one = CLASSES[layout]
    texts = (HERS, HIS, STOLEN)
    honest = one.more | {
        f"{folder}/double.py": text for folder, text in zip(one.folders, texts, strict=True)
    }
    before, own, problems = records(made(tmp_path / "before", honest, zip_it))
    assert len(before) == 2 and len(own) == 1 and not problems
    tried = honest | {f"{one.folders[-1]}/{name}": text for name, text in TRIED[what].items()}
    after, hers, problems = records(made(tmp_path / "after", tried, zip_it))
    assert after == before
    assert {time for _, time, _ in hers.values()} == {time for _, time, _ in own.values()}
    if "metadata" in what or what == "an export":
        assert any("submission_metadata.yml: ignored" in problem for problem in problems)


# --- metadata --------------------------------------------------------------------------------


@for_each("zip_it", [False, True], ids=["folder", "zip"])
@for_each(
    "files",
    [
        {"submission_metadata.yml": FORGED, "submission_13.py": STOLEN, "mallory.py": STOLEN},
        {"submission_metadata.yml": FORGED, "double/submission_metadata.yml": FORGED},
        {"submission_metadata.yml": METADATA},
        {"x/submission_metadata.yml": METADATA, "submission_metadata.yml": FORGED},
    ],
    ids=["among files", "two, without what they describe", "alone", "at two depths"],
)
def test_metadata_without_an_exports_directories_is_an_ordinary_file(
    files: dict[str, str], zip_it: bool, tmp_path: Path
):
    honest = {"anna.py": HERS, "ben.py": HIS}
    path = made(tmp_path / "a", honest | files, zip_it)
    with Submissions(path, ["double"], LESSONS) as submissions:
        found = {one.name: (one.source, one.submitted_at, one.fault) for one in submissions.all}
    assert found["anna"] == ("anna.py", "", "") and found["ben"] == ("ben.py", "", "")
    assert not {"Anna Lee", "Mallory"} & found.keys()
    assert all(one[1] == "" for one in found.values())
    named = [name for name in files if name.endswith(".yml")]
    for name in named:
        assert any(problem.startswith(f"{name}: ignored") for problem in submissions.problems)


def test_an_exports_metadata_apply_only_to_gradescopes_directories(tmp_path: Path):
    told = metadata(
        ("submission_11", "Anna Lee", "7", EARLY), ("ben", "Anna Lee", "7", EARLY),
        ("submission_99", "Nobody", "1", EARLY),
    )  # fmt: skip
    files = {f"{name}/double.py": HERS for name in ("submission_11", "submission_12", "ben")}
    path = made(tmp_path / "a", files | {"submission_metadata.yml": told})
    with Submissions(path, ["double"], LESSONS) as submissions:
        found = {one.source: (one.name, one.submitted_at) for one in submissions.all}
    assert found == {
        "ben/double.py": ("ben", ""),
        "submission_11/double.py": ("Anna Lee", f"{EARLY} Z"),
        "submission_12/double.py": ("submission_12", ""),
    }
    assert not submissions.problems


def test_metadata_for_other_directories_are_reported(tmp_path: Path):
    files = {"submission_21/double.py": HERS, "submission_metadata.yml": METADATA}
    path = made(tmp_path / "a", files)
    with Submissions(path, ["double"], LESSONS) as submissions:
        assert [one.name for one in submissions.all] == ["submission_21"]
    (problem,) = submissions.problems
    assert problem.startswith("submission_metadata.yml: describes none of the directories")


@for_each(
    "data",
    [
        "submission_1:\n  :x: y\n" * (29 << 20 >> 5) + "#" * (10 << 20),
        "submission_1: [" + "[]," * 1_000_000 + "]\n",
        "submission_1: " + "[" * 200_000,
        "a: &a [x]\n" + "".join(f"b{n}: [*a, *a, *a, *a]\n" for n in range(1000)),
        "",
        "\0",
    ],
    ids=["29 MB", "many entries", "nested", "aliases", "nothing", "no text"],
)
def test_any_metadata_are_read_within_seconds(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # The total time depends on the machine; what is read does not.
    monkeypatch.setattr(gradescope, "MAX_EVENTS", 20_000)
    files = {"submission_11/double.py": HERS, "submission_metadata.yml": data}
    began = time.process_time()
    with Submissions(made(tmp_path / "a", files), ["double"], LESSONS) as submissions:
        assert [one.name for one in submissions.all] == ["submission_11"]
    assert time.process_time() - began < 5
    (problem,) = submissions.problems
    assert problem.startswith("submission_metadata.yml") and "names and times" in problem
    # The message names the limit that was exceeded.
    over = len(data) > gradescope.MAX_METADATA or data.count("[],") > gradescope.MAX_EVENTS
    assert ("more than 16 MiB or 20,000 entries" in problem) == over
