"""`jaxtutor grade --format all`."""

import json
from pathlib import Path

import pytest

from tests.conftest import MINI
from tests.grading.outputs.html import Page
from tests.grading.outputs.test_gradebook import opened
from tests.grading.outputs.test_junit import suites
from tutor.cli import main
from tutor.grading.outputs import FORMATS

# Long enough to be compared.
LONG = """\
def double({0}):
    {1} = [0.0 * {0}]
    for {2} in range(4):
        if {2} % 2 == 0:
            {1}.append({0} * ({2} - 1) ** 2)
        else:
            {1}.append(({0} + {0}) / (2 + {2}) * 0)
    return sum({1})
"""


def test_all_formats_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    handed_in = tmp_path / "handed in"
    codes = {
        "Ada": LONG.format("x", "parts", "step"),
        "Bob": LONG.format("value", "all_of_it", "n"),
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
    (lesson,) = json.loads((out / "similarity.json").read_text())["lessons"]
    (pair,) = lesson["pairs"]
    assert [side["submission"] for side in pair["submissions"]] == ["Ada", "Bob"]
    assert [side["code"] for side in pair["submissions"]] == [codes["Ada"], codes["Bob"]]
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
