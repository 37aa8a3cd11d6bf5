"""A learner's work: attempts, notes, and all of it in an archive."""

import json
import zipfile
from pathlib import Path

from tests.command import jaxtutor

WRONG = "def double(x):\n    return 3 * x\n"


def said(*arguments: str) -> str:
    done = jaxtutor("history", "double", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_attempts_are_listed_printed_and_restored(home: Path):
    assert "no attempts at double yet" in said()
    jaxtutor("check", "double")  # makes the file, and checks the starter
    own = home / "workspace" / "mini" / "double.py"
    own.write_text(WRONG)
    jaxtutor("check", "double")
    listed = said().splitlines()
    assert [line.split()[:2] for line in listed[:2]] == [["1", "!"], ["2", "✗"]]
    assert listed[1].endswith("0 of 2 checks pass")
    assert "jaxtutor history double --show 2" in listed[2]
    assert said("--show", "2") == WRONG
    own.write_text("# unfinished\n")
    assert f"Restored into {own}" in said("--restore", "2")
    assert own.read_text() == WRONG
    assert said("--show", "3") == "# unfinished\n"
    done = jaxtutor("history", "double", "--show", "9")
    assert done.returncode == 2 and b"expected 1 to 3" in done.stderr


def test_notes_are_printed(home: Path):
    done = jaxtutor("notes", "double")
    assert done.stdout == b"There are no notes on double yet.\n"
    file = home / "workspace" / "mini" / "double.notes.md"
    assert str(file).encode() in done.stderr
    file.parent.mkdir(parents=True)
    file.write_text("twice\n")
    assert jaxtutor("notes", "double").stdout == b"twice\n"


def test_all_work_is_exported(home: Path, tmp_path: Path):
    jaxtutor("check", "double")
    own = home / "workspace" / "mini" / "double.py"
    own.write_text(WRONG)
    jaxtutor("check", "double")
    (own.parent / "double.notes.md").write_text("twice\n")
    jaxtutor("hint", "double")
    target = tmp_path / "work.zip"
    assert jaxtutor("export", str(target), pack=None).returncode == 0
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        read = {name: archive.read(name).decode() for name in archive.namelist()}
    assert read["answers/mini/double.py"] == WRONG
    assert read["answers/mini/double.notes.md"] == "twice\n"
    assert read["history/mini/double/002-fail.py"] == WRONG
    assert "answers/PACK/LESSON.py" in read["README.txt"]
    progress = json.loads(read["progress.json"])["mini"]["double"]
    assert progress == {"status": "started", "attempts": 2, "hints": 1}
    before = target.read_bytes()
    done = jaxtutor("export", str(target), pack=None)
    assert done.returncode == 2 and b"exists; choose another name, or add --force" in done.stderr
    assert target.read_bytes() == before
    assert jaxtutor("export", str(target), "--force", pack=None).returncode == 0
    blocked = tmp_path / "a file"
    blocked.write_text("")
    done = jaxtutor("export", str(blocked / "work.zip"), pack=None)
    assert done.returncode == 2 and b"Traceback" not in done.stderr
