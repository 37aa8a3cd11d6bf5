"""What a signal stops ends as on Ctrl-C: nothing is left running, and nothing lies about."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import MINI
from tests.sandbox.processes import descendants
from tutor.cli.stopping import Stopped, exit_code_of, exit_code_of_app, stopping

ENDLESS = "while True: pass\n"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def started(
    tmp_path: Path, *arguments: str, running: Callable[[], bool], **how: object
) -> tuple["subprocess.Popen[str]", Path]:
    """A command in the middle of its work, and the folder in which its private folders are."""
    private = tmp_path / "private"
    private.mkdir()
    pack = tmp_path / "pack"
    shutil.copytree(MINI.parent, pack)
    lesson = pack / "lessons" / "basics" / "double.yaml"
    # On a busy machine this test may wait for seconds; the code must still be running then.
    lesson.write_text(lesson.read_text().replace("seconds: 2,", "seconds: 60,"))
    process = subprocess.Popen(
        [sys.executable, "-m", "tutor", *arguments, "--pack", str(pack / "lessons")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(private)}, **how,
    )  # fmt: skip
    deadline = time.monotonic() + 100
    while not (running() and any(private.glob("jaxtutor-*"))):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    return process, private


def nothing_left(private: Path, processes: set[int]) -> None:
    assert not [*private.iterdir()]
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in processes):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@LINUX
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_a_check_that_is_stopped_leaves_nothing(tmp_path: Path, number: int, code: int):
    (tmp_path / "a.py").write_text(ENDLESS)
    process, private = started(tmp_path, "check", "double", "a.py", running=lambda: True)
    processes = descendants(process.pid)
    process.send_signal(number)
    if number != signal.SIGINT:  # twice is in earnest
        process.send_signal(number)
    out, err = process.communicate(timeout=60)
    # If Ctrl-C came while Python ran code in a string, as `namedtuple` does, Python ends with the
    # signal, which shells show as 130, too.
    ended = code if process.returncode != -signal.SIGINT else 130
    assert (ended, out, err) == (code, "", "\n")
    nothing_left(private, processes)


@LINUX
def test_a_batch_that_is_stopped_keeps_what_it_has_and_leaves_nothing_else(tmp_path: Path):
    (tmp_path / "hw").mkdir()
    (tmp_path / "hw" / "anna.py").write_text("def double(x):\n    return 2 * x\n")
    (tmp_path / "hw" / "ben.py").write_text(ENDLESS)
    journal = tmp_path / "hw-grades" / "journal.jsonl"
    process, private = started(
        tmp_path, "grade", "hw", "--lesson", "double", "--jobs", "1",
        running=lambda: journal.exists() and b'"anna"' in journal.read_bytes(),
    )  # fmt: skip
    processes = descendants(process.pid)
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (143, "")
    assert "What was graded is kept in hw-grades" in err and "Traceback" not in err
    nothing_left(private, processes)


@LINUX
def test_who_ignores_a_signal_goes_on(tmp_path: Path):
    (tmp_path / "a.py").write_text("import time\ntime.sleep(1)\ndef double(x): return 2 * x\n")
    process, _ = started(
        tmp_path, "check", "double", "a.py", running=lambda: True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_handlers_are_as_before_afterwards_and_those_of_others_stay():
    before = signal.getsignal(signal.SIGTERM)
    mine = signal.signal(signal.SIGHUP, lambda number, frame: None)
    stopped = tidied = None
    try:
        with stopping():
            try:
                os.kill(os.getpid(), signal.SIGHUP)  # somebody else sees to it
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(10)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)  # nothing interrupts tidying up
                time.sleep(0.01)
                tidied = True
    except Stopped as error:
        stopped = error
    finally:
        signal.signal(signal.SIGHUP, mine)
    assert signal.getsignal(signal.SIGTERM) is before
    assert tidied and stopped is not None and exit_code_of(stopped) == 143
    assert exit_code_of(KeyboardInterrupt()) == 130
    assert [exit_code_of_app(code) for code in (0, 143, 1, None)] == [0, 143, 3, 3]


class Unlucky:
    """Gets a signal while it is deleted, where Python drops what is raised."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0)  # the handler has run by now


def test_a_signal_that_python_drops_ends_the_command_all_the_same():
    with pytest.raises(Stopped) as raised, stopping():  # noqa: PT012 - the signal comes in here
        unlucky = Unlucky()
        del unlucky
        time.sleep(60)
    assert exit_code_of(raised.value) == 143
