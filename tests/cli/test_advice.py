"""What the command line says after a verdict: the text after a pass, and hints for a failure."""

import json
import os
import pty
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.command import called
from tests.conftest import MINI
from tests.stopwatch import GUARD
from tutor.cli.watch_output import Output
from tutor.engine.background import RaceFinished, RunFinished
from tutor.pack import open_pack
from tutor.report import CheckResult, Fault, Report

DOUBLE = "def double(x):\n    return 2 * x\n"
THRICE = "def double(x):\n    return 3 * x\n"
MORE = """\
after_pass: |
  You can **double**.

  {{next}}
failure_hints:
  - fails: again
    hint: Not this one.
  - fails: value
    says: largest difference
    hint: |
      What is the *factor*?
  - fails: load
    hint: Import what is there.
"""
NEXT = "Read [the guide](https://example.org/guide).\n"

pytestmark = pytest.mark.usefixtures("forked")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """The small pack in a directory with a space in its name, with advice for one lesson."""
    root = Path(shutil.copytree(MINI.parent, tmp_path / "my packs") / "lessons")
    with (root / "basics" / "double.yaml").open("a") as file:
        file.write(MORE)
    (root / "texts").mkdir()
    (root / "texts" / "next.md").write_text(NEXT)
    return root


def test_a_pass_ends_with_the_lessons_own_words(pack: Path):
    lines = called("check", "double", "-", code=DOUBLE, pack=pack).stdout.decode().splitlines()
    verdict = next(n for n, line in enumerate(lines) if "2 of 2 checks pass" in line)
    after = lines.index("You can **double**.")
    assert lines[after : after + 3] == ["You can **double**.", "", NEXT.rstrip()]
    solution = next(n for n, line in enumerate(lines) if line.startswith("Compare with"))
    assert verdict < after < solution


def test_in_a_terminal_they_are_set_as_markdown(pack: Path, tmp_path: Path):
    file = tmp_path / "answer.py"
    file.write_text(DOUBLE)
    main, other = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tutor", "check", "double", str(file), "--pack", str(pack)],
        stdout=other,
        env={**os.environ, "COLUMNS": "60", "TERM": "xterm-256color"},
    ) as process:
        os.close(other)
        shown = b""
        try:
            while part := os.read(main, 1 << 16):
                shown += part
        except OSError:
            pass  # the terminal is closed once the command has ended
        assert process.wait(GUARD) == 0
    os.close(main)
    text = shown.decode()
    assert "You can \x1b[1mdouble\x1b[0m" in text
    assert "https://example.org/guide" in text and "](" not in text


def test_they_are_no_part_of_a_report_and_not_shown_before_a_pass(pack: Path):
    done = called("check", "double", "-", "--json", code=DOUBLE, pack=pack)
    assert json.loads(done.stdout)["verdict"] == "pass" and b"You can" not in done.stdout
    for code in (THRICE, "import nowhere\n"):
        done = called("check", "double", "-", code=code, pack=pack)
        assert done.returncode == 1 and b"You can" not in done.stdout
    assert b"You can" not in called("hint", "double", pack=pack).stdout


@pytest.mark.parametrize(
    ("code", "number", "hint"),
    [
        (THRICE, 2, "What is the *factor*?\n"),
        ("import nowhere\n", 3, "Import what is there.\n"),
        ("def double(x):\n    return x[0]\n", 0, ""),
    ],
)
def test_a_failure_is_offered_its_hint_and_shown_it_on_request(
    pack: Path, code: str, number: int, hint: str
):
    text = called("check", "double", "-", code=code, pack=pack).stdout.decode()
    offers = [line for line in text.splitlines() if line.startswith("Stuck here?")]
    if not number:
        assert offers == []
        return
    command = f"jaxtutor hint double --failure {number} --pack '{pack}'"
    assert offers == [f"Stuck here? {command}"]
    assert hint.strip() not in text
    done = called("hint", "double", "--failure", str(number), pack=pack)
    assert (done.returncode, done.stdout.decode()) == (0, hint)
    assert b"Hint 1 of 2" in called("hint", "double", pack=pack).stdout  # none was taken


@pytest.mark.parametrize(
    ("lesson", "number", "told"),
    [
        ("double", "4", "double has 3 hints for failures"),
        ("tall", "1", "tall has 0 hints for failures"),
        ("double", "0", "must be an integer from 1 to 100000, got '0'"),
        ("double", "x", "must be an integer from 1 to 100000, got 'x'"),
    ],
)
def test_a_failure_hint_that_is_not_there(pack: Path, lesson: str, number: str, told: str):
    done = called("hint", lesson, "--failure", number, pack=pack)
    assert (done.returncode, done.stdout) == (2, b"")
    assert told in done.stderr.decode()


def test_watching_says_it_once_when_the_code_turns_to_pass(pack: Path):
    opened = open_pack(pack)
    out = Console(file=StringIO(), width=100)
    output = Output(opened, opened.lesson("double"), out, lambda *words: " ".join(words))
    wrong = CheckResult("value", "value", "fail", "largest difference 1")
    failed = Report("double", "fail", (wrong,))
    passed = Report("double", "pass", (CheckResult("value", "value", "pass"),))
    busy = Report("double", "internal", (), fault=Fault("busy-machine", "too busy"))

    def printed(report: Report) -> tuple[int, int]:
        out.file = StringIO()
        output.show(RunFinished(1, report))
        if report.passed:
            output.show(RaceFinished(1, report))
        text = out.file.getvalue()
        return text.count("You can double"), text.count("hint double --failure 2")

    runs = [printed(one) for one in (failed, passed, passed, busy, passed, failed, passed)]
    assert runs == [(0, 1), (1, 0), (0, 0), (0, 0), (0, 0), (0, 1), (1, 0)]
