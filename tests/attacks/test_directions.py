"""U9: no output contains bidirectional or invisible characters. No code is run."""

import json
import sys
import unicodedata
from pathlib import Path

import msgspec
import pytest

from tests.cases import for_each
from tests.grading.outputs.conftest import BATCH, FakeCodeReader
from tests.grading.outputs.made import hostile_result
from tutor.cli import main
from tutor.grading import outputs
from tutor.grading.results_file import results_line
from tutor.grading.student_names import normalize_name
from tutor.grading.submissions import Submissions

DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
HARMFUL = {
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp")
} - {"\n", "\t"}
UNSEEN = "".join(sorted(HARMFUL - {"\0", "\r"}))
CODE = "".join(
    f"value_{n} = [{n} * step for step in range({n})]  # {DIRECTIONS}\n" for n in range(40)
)


def harmless(text: str) -> None:
    found = {f"U+{ord(one):04X}" for one in text if one in HARMFUL}
    assert not found


def test_the_characters_are_among_those_searched_for():
    assert set(DIRECTIONS) | {"\u200b", "\ufeff", "\u2028", "\x1b", "\x9b"} <= HARMFUL


@for_each("name", outputs.FORMATS)
def test_no_format_contains_them(name: str, tmp_path: Path):
    results = [
        hostile_result(f"{UNSEEN}anna{DIRECTIONS}{'' if double else 'x'}") for double in (1, 0)
    ]
    batch = msgspec.structs.replace(BATCH, problems=(f"{UNSEEN}: nobody's",))
    codes = {(result.submission, result.lesson): CODE for result in results}
    outputs.write(batch, results, tmp_path, [name], FakeCodeReader(codes))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        harmless(str(path.relative_to(tmp_path)))
        # Other programs compare the submission itself.
        if path.suffix != ".py":
            text = path.read_bytes().decode("utf-8-sig")
            harmless(text.replace("\r\n", "\n") if path.suffix == ".csv" else text)
            for value in texts(json.loads(text)) if path.suffix == ".json" else ():
                harmless(value)


def texts(value: object) -> list[str]:
    """Yield all strings in JSON data."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts(part)]
    return [text for part in value for text in texts(part)] if isinstance(value, list) else []


def test_results_contain_them_only_in_data():
    result = hostile_result("anna")
    result = msgspec.structs.replace(result, source=f"an{DIRECTIONS}na/double.py")
    harmless(json.loads(results_line(result))["source"])


@pytest.mark.parametrize("layout", ["folders", "files", "table"])
def test_names_notes_and_faults_omit_them(layout: str, tmp_path: Path):
    odd = f"an{DIRECTIONS}na\u200b"
    files = {
        "folders": {f"{odd}/double.py": "x = 1\n", f"{odd}/dou{DIRECTIONS}.txt": "",
                    f"b{odd}/duoble{DIRECTIONS}.py": "x = 1\n", f"c{odd}/a.py": "x = 1\n",
                    f"c{odd}/b.py": "x = 1\n", f"d{odd}/double.py": "x = 1\n",
                    f"d{odd}/double (1){DIRECTIONS}.py": "x = 2\n",
                    f"e{odd}/x{DIRECTIONS}.pdf": ""},
        "files": {f"{odd}.py": "x = 1\n", f"{odd}.pdf": "", "ben.py": "x = 1\n"},
        "table": {"t.csv": f"submission,path\n{odd},{odd}.py\nben,{odd}.pdf\n",
                  f"{odd}.py": "x = 1\n"},
    }[layout]  # fmt: skip
    for name, text in files.items():
        (tmp_path / "hw" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "hw" / name).write_text(text)
    path = tmp_path / "hw" / ("t.csv" if layout == "table" else "")
    with Submissions(path, ["double"], ["tall"]) as found:
        assert "anna" in {one.name for one in found.all}
        for one in found.all:
            for text in (one.name, *one.notes, one.fault):
                harmless(text)
        for problem in found.problems:
            harmless(problem)
        for one in found.all:
            if not one.fault:
                assert found.read(one.source)  # it is still found under its real name


def test_problems_are_reported_without_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / f"x{DIRECTIONS}.csv"
    path.write_text(f"submission,lesson,path\nanna,du{DIRECTIONS}ble,1.py\n")
    assert main(["grade", str(path), "--lesson", "grad-basics"]) == 2
    told = capsys.readouterr().err
    assert "the pack has no lesson" in told
    harmless(told)


def test_a_name_that_is_right_in_its_script_keeps_its_letters():
    assert normalize_name("شيماء") == "شيماء"
    assert normalize_name("نرگس\u200cالسادات") == "نرگسالسادات"
    assert normalize_name("\u200fדנה") == "דנה"
    assert normalize_name("Zoe\u0308") == "Zoë"
