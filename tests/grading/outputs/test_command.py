"""`jaxtutor grade --format all`."""

from pathlib import Path

import pytest

from tests.conftest import MINI
from tests.grading.outputs.html import Page
from tests.grading.outputs.test_gradebook import opened
from tests.grading.outputs.test_junit import suites
from tutor.cli import main
from tutor.grading.outputs import FORMATS


def test_all_formats_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    handed_in = tmp_path / "handed in"
    codes = {
        "Ada": "def double(x):\n    return 2 * x\n",
        "Bob": "def double(x):\n    return x + x\n",
        "Cem": "def double(x):\n    return 3 * x\n",
        "=cmd()": "",
    }
    for name, code in codes.items():
        (handed_in / name).mkdir(parents=True)
        (handed_in / name / "double.py").write_text(code)
    out = tmp_path / "out"
    command = ["grade", str(handed_in), "--lesson", "double", "--pack", str(MINI)]
    assert main([*command, "--seed", "0", "--out", str(out), "--format", "all"]) == 3
    assert "the file is empty" in capsys.readouterr().err

    rows = {row["submission"]: row for row in opened(out)}
    assert {name: row["total"] for name, row in rows.items()} == {
        "Ada": "2", "Bob": "2", "Cem": "0", "'=cmd()": "",
    }  # fmt: skip
    assert {suite.get("name") for suite in suites(out)} == set(codes)
    assert {path.stem for path in (out / "students").iterdir()} == set(codes)
    assert {path.name for path in (out / "gradescope").iterdir()} == set(codes)
    assert "Needs review: 1." in Page.of(out / "report.html").text
    assert (out / "export/double/submissions/Bob/double.py").read_text() == codes["Bob"]


def test_an_unknown_format_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "double.py").write_text("def double(x):\n    return 2 * x\n")
    command = ["grade", str(tmp_path), "--lesson", "double", "--pack", str(MINI)]
    assert main([*command, "--out", str(tmp_path / "out"), "--format", "pdf"]) == 2
    assert "available: gradebook.csv" in capsys.readouterr().err


def test_the_help_names_every_format(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["grade", "--help"])
    help_text = " ".join(capsys.readouterr().out.split())
    assert all(name in help_text for name in FORMATS)
