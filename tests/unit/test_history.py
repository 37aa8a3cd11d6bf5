"""The journal of attempts: nothing that was told of is lost, and it does not grow without end."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.stopwatch import GUARD
from tutor.learner import history
from tutor.learner.history import Attempt, HintsTaken, History
from tutor.learner.progress import Progress
from tutor.report import Report

RECORDING = """
import sys
from pathlib import Path
from tutor.learner.history import Attempt, History
kept = History(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    code = f"{sys.argv[2]} {number} " + "x" * 300
    kept.record("mini", "double", Attempt(at=number, verdict="fail", code=code))
    print(code, flush=True)
"""


def attempt(number: int, verdict: str = "fail", code: str = "") -> Attempt:
    return Attempt(at=float(number), verdict=verdict, code=code or f"x = {number}\n")


def recording(folder: Path, name: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", RECORDING, str(folder), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_attempts_are_read_in_the_order_of_recording(tmp_path: Path):
    kept = History(tmp_path)
    for number in range(3):
        kept.record("mini", "double", attempt(number))
    kept.record("mini", "double", HintsTaken(at=5.0, count=1))
    assert kept.attempts("mini", "double") == [attempt(0), attempt(1), attempt(2)]
    assert kept.attempts("mini", "tall") == []
    assert kept.lessons() == [("mini", "double")]


def test_the_same_code_with_the_same_verdict_is_one_attempt(tmp_path: Path):
    kept = History(tmp_path)
    for verdict in ("fail", "fail", "pass", "fail"):
        kept.record("mini", "double", attempt(1, verdict))
    assert [one.verdict for one in kept.attempts("mini", "double")] == ["fail", "pass", "fail"]


def test_the_oldest_are_dropped_but_for_the_first_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(history, "MOST_ATTEMPTS", 10)
    kept = History(tmp_path)
    kept.record("mini", "double", attempt(0))
    kept.record("mini", "double", attempt(1, "pass"))
    kept.record("mini", "double", HintsTaken(at=1.5, count=2))
    for number in range(2, 40):
        kept.record("mini", "double", attempt(number))
    numbers = [int(one.at) for one in kept.attempts("mini", "double")]
    assert numbers[0] == 1 and numbers[-1] == 39 and len(numbers) <= 12
    assert HintsTaken(at=1.5, count=2) in kept.events("mini", "double")


def test_a_journal_of_long_programs_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(history, "MOST_BYTES", 10_000)
    kept = History(tmp_path)
    for number in range(30):
        kept.record("mini", "double", attempt(number, code=f"{number} " + "x" * 1000))
    assert kept.path("mini", "double").stat().st_size <= 11_000
    assert kept.attempts("mini", "double")[-1].at == 29


def test_lines_of_a_newer_jaxtutor_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(history, "MOST_ATTEMPTS", 2)
    kept = History(tmp_path)
    kept.record("mini", "double", attempt(0))
    newer = b'{"type":"video","at":1}'
    with kept.path("mini", "double").open("ab") as file:
        file.write(newer + b"\n")
    for number in range(1, 9):
        kept.record("mini", "double", attempt(number))
    assert newer in kept.path("mini", "double").read_bytes().splitlines()


@settings(deadline=None, derandomize=True, max_examples=60)
@given(some.lists(some.text(max_size=40), min_size=1, max_size=6), some.data())
def test_a_line_that_was_cut_off_costs_nothing_else(codes: list[str], data: some.DataObject):
    with tempfile.TemporaryDirectory() as folder:
        kept = History(Path(folder))
        recorded = [attempt(number, code=f"{number}{code}") for number, code in enumerate(codes)]
        for one in recorded:
            kept.record("mini", "double", one)
        path = kept.path("mini", "double")
        whole = path.read_bytes()
        path.write_bytes(whole[: data.draw(some.integers(0, len(whole)))])
        left = kept.attempts("mini", "double")
        assert left == recorded[: len(left)]
        kept.record("mini", "double", attempt(99))
        assert kept.attempts("mini", "double") == [*left, attempt(99)]


def test_two_programs_at_once_lose_nothing(tmp_path: Path):
    programs = [recording(tmp_path, name, 60) for name in ("one", "two")]
    said = [program.communicate(timeout=GUARD)[0].splitlines() for program in programs]
    codes = [one.code for one in History(tmp_path).attempts("mini", "double")]
    assert sorted(codes) == sorted(said[0] + said[1]) and len(codes) == 120


def test_what_was_recorded_survives_a_kill(tmp_path: Path):
    chance = random.Random(0)
    for number in range(6):
        folder = tmp_path / str(number)
        program = recording(folder, "killed", 10_000)
        assert program.stdout is not None
        said = [program.stdout.readline().strip() for _ in range(chance.randint(1, 40))]
        program.send_signal(signal.SIGKILL)
        # Not `communicate`, which skips what `readline` has read ahead.
        rest = program.stdout.read().splitlines(keepends=True)
        program.communicate(timeout=GUARD)
        said += [line.strip() for line in rest if line.endswith("\n")]
        codes = [one.code for one in History(folder).attempts("mini", "double")]
        assert set(said[-history.MOST_ATTEMPTS :]) <= set(codes)


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path):
    kept = History(tmp_path)
    kept.record("mini", "double", attempt(0))
    before = kept.path("mini", "double").read_bytes()
    code = (
        "import resource, signal, sys\nfrom pathlib import Path\n"
        "from tutor.learner.history import Attempt, History\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 50}, {len(before) + 50}))\n"
        "try:\n"
        "    History(Path(sys.argv[1])).record('mini', 'double',\n"
        "        Attempt(at=1.0, verdict='fail', code='x' * 5000))\n"
        "except OSError as error:\n"
        "    print(error.strerror)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "File too large\n"
    assert kept.path("mini", "double").read_bytes() == before


# --- progress is made anew -------------------------------------------------------------------


PASS = Report("double", "pass", ())
FAIL = Report("tall", "fail", ())


def test_damaged_progress_is_made_anew(tmp_path: Path):
    path = tmp_path / "progress.db"
    with Progress(path) as progress:
        progress.record("mini", FAIL, "a")
        progress.record("mini", PASS, "b")
        progress.take_hint("mini", "tall", 3)
        progress.take_hint("mini", "tall", 3)
    path.write_bytes(os.urandom(8192))
    with Progress(path) as progress:
        (notice,) = progress.notices
        assert "made from your history: 1 lesson passed" in notice
        assert progress.statuses("mini") == {"double": "passed", "tall": "started"}
        assert progress.attempts("mini", "tall") == 1
        assert progress.hints("mini", "tall") == 2
    assert list(tmp_path.glob("progress-damaged-*.db"))


def test_what_was_passed_before_there_was_a_history_is_not_lost(tmp_path: Path):
    path = tmp_path / "progress.db"
    with Progress(path) as progress:
        progress.record("mini", PASS)
    for file in (tmp_path / "history" / "mini").iterdir():
        file.unlink()
    (tmp_path / "history" / "mini").rmdir()
    (tmp_path / "history").rmdir()
    Progress(path).close()
    path.write_bytes(b"no database")
    with Progress(path) as progress:
        assert progress.passed("mini", "double")


def test_a_history_that_cannot_be_written_is_told_once(tmp_path: Path):
    (tmp_path / "history").write_text("a file where the journals should be")
    with Progress(tmp_path / "progress.db") as progress:
        progress.record("mini", PASS, "a")
        progress.record("mini", FAIL, "b")
        (notice,) = progress.notices
        assert "your history was not saved" in notice
        assert progress.passed("mini", "double")
