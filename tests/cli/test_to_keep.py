"""What a learner takes along: the PyTorch of a lesson, and a page with a result."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import called
from tests.grading.outputs.html import Page
from tests.stopwatch import GUARD

pytestmark = pytest.mark.usefixtures("forked")

LESSON = """
id: script
title: A script
track: basics
minutes: 1
brief: Port it.
torch: |
  import numpy as np

  def count():
      return len(np.load("digits.npz")["x"])

  if __name__ == "__main__":
      print(count(), "images")
starter: |
  def count(): ...
hints: [none]
checks:
  - {value: count()}
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A pack whose only lesson is a script that reads data."""
    root = tmp_path / "pack"
    (root / "basics").mkdir(parents=True)
    (root / "basics" / "script.yaml").write_text(LESSON)
    (root / "pack.yaml").write_text(
        "format: 1\nid: scripts\ntitle: Scripts\n"
        "tracks: [{id: basics, title: Basics, lessons: [script]}]\n"
    )
    return root


def test_the_pytorch_of_a_lesson_is_printed():
    done = called("torch", "double")
    assert done.returncode == 0
    assert done.stdout.decode().startswith("import torch")


def test_a_script_is_written_with_its_data_and_runs(pack: Path, tmp_path: Path):
    done = called("torch", "script", "--output", str(tmp_path / "new"), pack=pack)
    assert (done.returncode, done.stderr) == (0, b"")
    names = {"script.py", "digits.npz", "DIGITS-LICENSE.md"}
    assert {path.name for path in (tmp_path / "new").iterdir()} == names
    command = [sys.executable, "script.py"]
    ran = subprocess.run(
        command, cwd=tmp_path / "new", capture_output=True, text=True, timeout=GUARD, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "1797 images\n"


def test_a_script_replaces_nothing(tmp_path: Path):
    (tmp_path / "double.py").write_text("mine")
    done = called("torch", "double", "--output", str(tmp_path))
    assert done.returncode == 2
    assert b"double.py exists; choose another directory" in done.stderr
    assert (tmp_path / "double.py").read_text() == "mine"


@pytest.mark.parametrize(("factor", "points"), [(2, "2 of 2"), (3, "0 of 2")])
def test_a_result_is_written_as_a_page(factor: int, points: str, tmp_path: Path):
    code = f"def double(x):\n    return {factor} * x  # <b>\n"
    path = tmp_path / "page.html"
    done = called("check", "double", "-", "--report", str(path), code=code)
    assert done.returncode == (factor != 2)
    assert f"Wrote {path}" in done.stderr.decode()
    page = Page.of(path)
    assert page.only_ours()
    assert points in page.text and code.strip() in page.text
    assert "grader will review" not in page.text


def test_a_page_that_cannot_be_written_is_an_error_with_its_name(tmp_path: Path):
    path = tmp_path / "file" / "page.html"
    path.parent.write_text("")
    code = "def double(x):\n    return 2 * x\n"
    done = called("check", "double", "-", "--report", str(path), code=code)
    assert done.returncode == 2 and b"file" in done.stderr and b"Traceback" not in done.stderr
