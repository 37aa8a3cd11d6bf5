"""Submissions are exported as plagiarism checkers expect them."""

from collections.abc import Callable
from pathlib import Path

from tests.grading.outputs.conftest import FakeCodeReader
from tutor.grading.result import Result

Write = Callable[..., Path]

STARTER = "def double(x):\n    raise NotImplementedError\n"
CODES = {
    ("Ada", "double"): "def double(x):\n    return 2 * x\n",
    ("<b>Dan", "double"): "x = 1\n",
    ("Eve", "double"): "def f(:",
}


def test_the_export_has_a_directory_per_submission(write: Write):
    results = [
        Result(name, lesson, "pass", 1.0, 1.0, source=f"{name}/{lesson}.py")
        for name, lesson in CODES
    ]
    folder = write(results, ["export"], reader=FakeCodeReader(CODES, STARTER)) / "export"
    assert (folder / "double/base/double.py").read_text() == STARTER
    assert (folder / "double/submissions/Ada/double.py").read_text() == CODES["Ada", "double"]
    assert len(list((folder / "double/submissions").glob("*/double.py"))) == len(CODES)
    readme = (folder / "README.txt").read_text()
    assert "-bc base submissions" in readme and "compare50 submissions/* -d base" in readme
