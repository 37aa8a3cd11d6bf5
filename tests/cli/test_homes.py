"""A home that cannot be written to costs speed and a remark, never a verdict."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.attacks import ordinary
from tests.attacks.test_as_ordinary_user import NOBODY, REPOSITORY, needed
from tests.cli.test_commands import DOUBLE
from tests.command import jaxtutor
from tests.conftest import MINI, SHARED_CACHE


@pytest.fixture
def closed(home: Path) -> Path:
    """A home in which files are where folders should be; what PyTorch answered is known, so that
    nobody waits for it."""
    (home / "cache").unlink()
    (home / "cache").mkdir()
    (home / "cache" / "references").symlink_to(SHARED_CACHE / "references")
    for name in ("cache/packs", "cache/programs", "data", "workspace"):
        (home / name).touch()
    return home


def told(done: "subprocess.CompletedProcess[bytes]") -> list[str]:
    assert b"Traceback" not in done.stderr and b"internal error" not in done.stderr
    return done.stderr.decode().splitlines()


def test_an_answer_is_judged_all_the_same(closed: Path):
    done = jaxtutor("check", "double", "-", "--json", code=DOUBLE)
    (remark,) = told(done)
    assert remark.startswith(
        f"jaxtutor: cannot write to the cache {closed}/cache/packs (not a directory)"
    )
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (0, "pass")


def test_who_has_no_file_and_can_have_none_is_told_and_sees_the_starter(closed: Path):
    done = jaxtutor("check", "double")
    starter, progress, _ = told(done)
    assert "workspace/mini/double.py could not be created (Not a directory)" in starter
    assert "progress is not saved in this run" in progress
    assert all("JAXTUTOR_HOME" in line for line in (starter, progress))
    assert done.returncode == 1
    for command in (["list"], ["hint", "double"], ["solution", "double", "--anyway"]):
        done = jaxtutor(*command)
        assert done.returncode == 0
        assert told(done)


def test_a_class_is_graded_all_the_same_and_the_journal_must_be_written(
    closed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("hw").mkdir()
    for name in ("anna", "ben", "carl"):
        Path("hw", f"{name}.py").write_text(DOUBLE)
    done = jaxtutor("grade", "hw", "--lesson", "double", "--seed", "0")
    assert any("cannot write to the cache" in line for line in told(done))
    assert b"3 pass" in done.stdout and done.returncode == 0
    Path("file").touch()
    done = jaxtutor("grade", "hw", "--lesson", "double", "--seed", "0", "--out", "file/out")
    (remark,) = [line for line in told(done) if "cannot write to the cache" not in line]
    assert remark.startswith("jaxtutor: file") and "Not a directory" in remark
    assert done.returncode == 2


@pytest.mark.skipif(not hasattr(os, "setresuid") or os.geteuid() != 0, reason="takes a second user")
def test_a_cache_of_somebody_elses_is_read(home: Path):
    """It may be an image's, made by root."""
    # Now it knows all there is to know.
    assert jaxtutor("check", "double", "-", code=DOUBLE).returncode == 0
    folder = Path(tempfile.mkdtemp(prefix="jt-", dir="/tmp"))
    try:
        folder.chmod(0o755)
        (folder / "cache").symlink_to(SHARED_CACHE)
        done = subprocess.run(
            [sys.executable, ordinary.__file__, str(NOBODY), *needed(), "--", sys.executable, "-m",
             "tutor", "check", "double", "-", "--pack", str(MINI), "--json"],
            input=DOUBLE.encode(), cwd=REPOSITORY, capture_output=True, timeout=120, check=False,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": "/tmp",
                 "JAXTUTOR_HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
    finally:
        shutil.rmtree(folder)
    told(done)
    report = json.loads(done.stdout)
    assert (done.returncode, report["verdict"]) == (0, "pass")
    assert report["timings"]["reference"] == 0.0, "it was not read"
