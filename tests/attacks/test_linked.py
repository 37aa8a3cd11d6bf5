"""O10: links into another student's directory are never read. No code is run."""

import os
import stat
import threading
import zipfile
from pathlib import Path

import pytest

from tests.attacks.test_ownership import HERS, HIS, LESSONS, made, records
from tutor.grading.submission_files import Unreadable
from tutor.grading.submissions import Submissions

LINKS = pytest.mark.skipif(os.name == "nt", reason="links need rights there")


def linked(root: Path, how: str) -> None:
    """Make Mallory's directory lead to Anna's double.py as his own answer."""
    anna, mallory = root / "anna", root / "mallory"
    match how:
        case "the file":
            mallory.mkdir()
            (mallory / "double.py").symlink_to("../anna/double.py")
        case "the file, absolutely":
            mallory.mkdir()
            (mallory / "double.py").symlink_to(anna / "double.py")
        case "a link to a link":
            mallory.mkdir()
            (mallory / "x").symlink_to("../anna/double.py")
            (mallory / "double.py").symlink_to("x")
        case "a folder":
            mallory.mkdir()
            (mallory / "work").symlink_to("../anna")
        case "her whole folder":
            mallory.symlink_to("anna")
        case "out and in again":
            mallory.mkdir()
            (mallory / "up").symlink_to(root.parent)
        case "a hard link":
            mallory.mkdir()
            (mallory / "double.py").hardlink_to(anna / "double.py")


HOW = ["the file", "the file, absolutely", "a link to a link", "a folder", "her whole folder",
       "out and in again"]  # fmt: skip


@LINKS
@pytest.mark.parametrize("how", HOW)
def test_a_link_into_another_students_directory_is_never_read(how: str, tmp_path: Path):
    root = made(tmp_path / "a", {"anna/double.py": HERS, "ben/double.py": HIS})
    linked(root, how)
    with Submissions(root, LESSONS) as submissions:
        found = {one.name: one.source for one in submissions.all}
        assert found == {"anna": "anna/double.py", "ben": "ben/double.py"}
        assert any("mallory" in problem and "link" in problem for problem in submissions.problems)
        for name in ("mallory/double.py", "mallory/work/double.py", "mallory/up/hw/anna/double.py"):
            with pytest.raises(Unreadable):
                submissions.read(name)


@LINKS
@pytest.mark.parametrize("table", [False, True], ids=["folder", "table"])
def test_a_hard_link_to_another_students_file_needs_review(table: bool, tmp_path: Path):
    root = made(tmp_path / "a", {"anna/double.py": HERS, "ben/double.py": HIS})
    linked(root, "a hard link")
    (tmp_path / "backup").hardlink_to(root / "ben" / "double.py")  # as `cp -al` makes them
    if table:
        rows = "".join(f"{name},{name}/double.py\n" for name in ("anna", "ben", "mallory"))
        (root / "t.csv").write_text(f"submission,path\n{rows}")
    with Submissions(root / "t.csv" if table else root, ["double"], LESSONS) as submissions:
        faults = {one.name: one.fault for one in submissions.all}
        assert submissions.read("ben/double.py").decode() == HIS
    assert faults.pop("ben") == ""
    assert "the same file on this disk as mallory/double.py" in faults["anna"]
    assert "the same file on this disk as anna/double.py" in faults["mallory"]


@LINKS
@pytest.mark.parametrize("how", HOW)
def test_a_path_of_a_table_through_a_link_is_not_read(how: str, tmp_path: Path):
    root = made(tmp_path / "a", {"anna/double.py": HERS})
    linked(root, how)
    path = {
        "a folder": "mallory/work/double.py", "out and in again": "mallory/up/hw/anna/double.py"
    }.get(how, "mallory/double.py")  # fmt: skip
    (root / "t.csv").write_text(f"submission,path\nmallory,{path}\nanna,anna/double.py\n")
    with Submissions(root / "t.csv", ["double"], LESSONS) as submissions:
        assert submissions.read("anna/double.py").decode() == HERS
        with pytest.raises(Unreadable, match="a symbolic link"):
            submissions.read(path)


@pytest.mark.parametrize(
    "path", ["../a.py", "/etc/passwd", "x/../../a.py", "mallory/../anna/double.py"]
)
def test_a_path_of_a_table_leads_nowhere_else(path: str, tmp_path: Path):
    root = made(tmp_path / "a", {"anna/double.py": HERS, "x/x.py": HERS})
    (tmp_path / "a.py").write_text(HERS)
    (root / "t.csv").write_text(f"submission,path\nmallory,{path}\n")
    table = Submissions(root / "t.csv", ["double"], LESSONS)
    with table as submissions, pytest.raises(Unreadable, match="leads outside"):
        submissions.read(path)


@LINKS
@pytest.mark.parametrize("table", [False, True], ids=["folder", "table"])
@pytest.mark.parametrize("what", ["the file", "the folder", "a hard link", "a pipe"])
def test_a_link_created_after_the_check_is_not_read(what: str, table: bool, tmp_path: Path):
    root = made(tmp_path / "a", {"anna/double.py": HERS, "mallory/work/double.py": HIS})
    if table:
        (root / "t.csv").write_text("submission,path\nmallory,mallory/work/double.py\n")
    with Submissions(root / "t.csv" if table else root, ["double"], LESSONS) as submissions:
        assert submissions.read("mallory/work/double.py").decode() == HIS
        own = root / "mallory" / "work"
        (own / "double.py").unlink()
        match what:
            case "the file":
                (own / "double.py").symlink_to("../../anna/double.py")
            case "the folder":
                own.rmdir()
                own.symlink_to("../anna")
            case "a hard link":
                (own / "double.py").hardlink_to(root / "anna" / "double.py")
            case "a pipe":
                os.mkfifo(own / "double.py")
        with pytest.raises(Unreadable, match=r"link|not a regular file"):
            submissions.read("mallory/work/double.py")


@LINKS
def test_a_link_that_comes_and_goes_is_never_followed(tmp_path: Path):
    """A thread creates and removes the link between the check and the read."""
    root = made(tmp_path / "a", {"anna/double.py": HERS, "mallory/double.py": HIS})
    own, stop = root / "mallory" / "double.py", threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for name in ("link", "file"):
                spare = root / "mallory" / f".{name}"
                if name == "link":
                    spare.symlink_to(root / "anna" / "double.py")
                else:
                    spare.write_text(HIS)
                spare.replace(own)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        with Submissions(root, ["double"], LESSONS) as submissions:
            for _ in range(3000):
                try:
                    seen.add(submissions.read("mallory/double.py").decode())
                except Unreadable:
                    seen.add("refused")
    finally:
        stop.set()
        swapping.join()
    assert HERS not in seen
    assert seen == {HIS, "refused"}


def test_links_in_a_zip_are_not_read(tmp_path: Path):
    path = made(tmp_path / "a", {"anna/double.py": HERS, "mallory/double.py": HIS}, zip_it=True)
    with zipfile.ZipFile(path, "a") as archive:
        for name, to in (("mallory/tall.py", "../anna/double.py"), ("eve", "anna")):
            link = zipfile.ZipInfo(name)
            link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
            archive.writestr(link, to)
        archive.writestr("eve/double.py", HIS)
    others, hers, problems = records(path)
    assert {key: what[0] for key, what in others.items()} == {
        ("anna", "double"): HERS, ("eve", "double"): HIS,
    }  # fmt: skip
    assert [*hers] == [("mallory", "double")]
    assert len([problem for problem in problems if ": a symbolic link" in problem]) == 2
