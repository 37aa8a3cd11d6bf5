"""The log and the bug report: what they hold, and what they never do."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_commands import DOUBLE, edit
from tests.command import jaxtutor
from tests.conftest import MINI
from tutor import __version__
from tutor.cli import main
from tutor.cli.parser import build_parser
from tutor.storage import log, paths

SECRET = "xyzzyplugh"
BREAKING = f"""\
import sys
def double(x):
    {SECRET} = "{SECRET}"
    print({SECRET})
    print({SECRET}, file=sys.stderr)
    raise type({SECRET}, (Exception,), {{}})({SECRET})
"""
ENDING = f"import os, sys\nprint('{SECRET}', flush=True)\nos._exit(66)\n"
OVERTIME = f"def double(x):\n    while '{SECRET}': pass\n"
WRONG = "def double(x):\n    return 3 * x\n"


def logged(home: Path) -> str:
    return (home / "logs" / "jaxtutor.log").read_text()


# --- what it holds ---------------------------------------------------------------------------


def test_it_holds_the_version_the_command_and_the_sandboxes(home: Path):
    jaxtutor("check", "double", "-", "--seed", "3", "--json", code=DOUBLE)
    text = logged(home)
    python = ".".join(map(str, sys.version_info[:3]))
    assert f"jaxtutor {__version__}, Python {python}, {sys.platform}: " in text
    assert "jaxtutor check --pack --json --seed double" in text
    assert "Spec(role='learner', limits=Limits(seconds=2" in text
    assert "devices=1, accelerators=False" in text
    assert "ready, protections on: own process, environment, " in text
    assert "closed, 0." in text or "closed, 1." in text
    assert "double, seed 3: pass, faults: none; start " in text
    assert " s of processor time, peak " in text
    assert "exit code 0 after " in text


def test_it_holds_how_a_sandbox_ended(home: Path):
    jaxtutor("check", "double", "-", code=ENDING)
    jaxtutor("check", "double", "-", code=OVERTIME)
    text = logged(home)
    assert "exit code 66, fault exited, " in text
    assert "double, seed 0: error, faults: exited; " in text
    assert re.search(r"signal 9, fault timeout, [2-9]\.\d+ s of processor time", text)


def test_verbose_prints_it(home: Path):
    for arguments in (["-v", "hint", "double"], ["hint", "-v", "double"]):
        done = jaxtutor(*arguments)
        assert b"jaxtutor hint --" in done.stderr and b"exit code 0" in done.stderr
    assert not jaxtutor("hint", "double").stderr


def test_options_are_named_without_their_values():
    options = build_parser().parse_args(
        ["--pack", SECRET, "grade", "hw", "--only", SECRET, "--format=csv", "--no-wrapper"]
    )
    assert options.invocation == (
        "jaxtutor grade",
        ["--pack", "--format", "--only", "--no-wrapper"],
    )
    options = build_parser().parse_args(
        ["grade", "override", "out", SECRET, "double", "1", "--reason", f"--{SECRET} why"]
    )
    assert options.invocation == ("jaxtutor grade override", ["--reason"])


def test_an_internal_error_is_logged_with_its_traceback_and_without_its_text(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def fail(*arguments: object, **options: object) -> None:
        try:
            raise KeyError(SECRET)
        except KeyError:
            raise PermissionError(13, SECRET, SECRET) from None

    monkeypatch.setattr("tutor.learner.progress.Progress.statuses", fail)
    assert main(["list", "--pack", str(MINI)]) == 3
    text = logged(home)
    assert "ERROR tutor.cli: internal error" in text
    assert ", in fail\n" in text and "PermissionError (errno 13)" in text
    assert SECRET not in text
    assert f"The traceback is in {log.log_file()}." in capsys.readouterr().err


# --- what it never holds ---------------------------------------------------------------------


@pytest.mark.parametrize("code", [BREAKING, ENDING, OVERTIME, DOUBLE + SECRET, f"{SECRET}(\n"])
def test_nothing_of_the_learners_is_in_it(home: Path, tmp_path: Path, code: str):
    file = tmp_path / f"{SECRET}.py"
    file.write_text(code)
    done = jaxtutor("-v", "check", "double", str(file))
    assert SECRET in done.stdout.decode() or code == OVERTIME
    assert SECRET.encode() not in done.stderr
    assert SECRET not in logged(home)


def test_neither_inputs_nor_expected_values_are_in_it(home: Path, tmp_path: Path):
    pack = Path(shutil.copytree(MINI.parent, tmp_path / "pack") / "lessons")
    lesson = pack / "basics" / "double.yaml"
    edit(lesson, "return 2 * x", "return 2 * x + 98765.0 - 98765.0")
    done = jaxtutor("check", "double", "-", "--json", "--pack", str(pack), code=WRONG, pack=None)
    text = logged(home)
    assert '"expected":' in done.stdout.decode()
    entries = json.loads(done.stdout)["checks"][0]["mismatch"]["entries"]
    assert entries
    for entry in entries:
        assert entry["expected"] not in text and entry["actual"] not in text
    assert "98765" not in text


def test_students_are_not_in_it(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("hw").mkdir()
    Path("hw", f"{SECRET}.py").write_text(DOUBLE)
    Path("hw", f"{SECRET}2.py").write_text(BREAKING)
    Path("hw", f"{SECRET}3.txt").write_text("x")
    jaxtutor("-v", "grade", "hw", "--lesson", "double", "--only", SECRET)
    override = ("grade", "override", "hw-grades", SECRET, "double", "1", "--reason", SECRET)
    done = jaxtutor("-v", *override, pack=None)
    assert done.returncode == 0, done.stderr
    assert "jaxtutor grade override --verbose --reason double" in logged(home)
    assert SECRET not in logged(home)


def test_the_home_directory_is_shortened(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/anna")
    assert paths.shorten_home("'/home/anna/x' /home/anna") == "'~/x' ~"
    assert paths.shorten_home("/home/anna-lee /home/annalee") == "/home/anna-lee /home/annalee"
    monkeypatch.setenv("HOME", "/")
    assert paths.shorten_home("/home/x") == "/home/x"


# --- what happens to the file ----------------------------------------------------------------


def test_it_is_rotated_and_stays_small(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(log, "MAX_BYTES", 1000)
    for _ in range(30):
        main(["hint", "double", "--pack", str(MINI)])
    sizes = {path.name: path.stat().st_size for path in (home / "logs").iterdir()}
    assert sizes.keys() == {"jaxtutor.log", "jaxtutor.log.1"}
    assert max(sizes.values()) < 1300
    assert len(log.read_tail(10).splitlines()) == 10
    assert (home / "logs" / "jaxtutor.log").stat().st_mode & 0o777 == 0o600


def test_two_processes_share_it(home: Path):
    program = (
        "from tutor.storage import log; import logging\n"
        "log.MAX_BYTES = 20_000; log.open_log('x', [], [])\n"
        "[logging.getLogger('tutor').info('line %d', n) for n in range(300)]"
    )
    running = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [one.wait(60) for one in running] == [0, 0]
    for path in (home / "logs").iterdir():
        assert all(" INFO tutor: " in line for line in path.read_text().splitlines())


@pytest.mark.parametrize("blocked", ["logs", "logs/jaxtutor.log"])
def test_a_log_that_cannot_be_written_is_no_obstacle(home: Path, blocked: str):
    if blocked == "logs":
        (home / "logs").touch()
    else:
        (home / "logs" / "jaxtutor.log").mkdir(parents=True)
    done = jaxtutor("hint", "double")
    assert (done.returncode, done.stderr) == (0, b"")
    done = jaxtutor("hint", "double", "--verbose")
    assert b"exit code 0" in done.stderr and b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_no_obstacle(home: Path):
    (home / "logs").mkdir()
    (home / "logs" / "jaxtutor.log").symlink_to("/dev/full")
    done = jaxtutor("hint", "double")
    assert (done.returncode, done.stderr) == (0, b"")
    assert Path("/dev/full").exists() and (home / "logs" / "jaxtutor.log").is_symlink()


# --- the bug report --------------------------------------------------------------------------


def test_the_report_holds_what_an_issue_needs_and_nothing_of_the_learners(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    Path(f"{SECRET}.py").write_text(BREAKING)
    jaxtutor("check", "double", f"{SECRET}.py")
    own = home / "workspace" / "mini" / "double.py"
    own.parent.mkdir(parents=True)
    own.write_text(BREAKING)
    jaxtutor("check", "double")
    done = jaxtutor("doctor", "--report", JAXTUTOR_DEVICES="cpu")
    assert done.returncode == 0, done
    assert done.stdout == b"Wrote jaxtutor-report.md. Read it, then attach it to your issue.\n"
    text = Path("jaxtutor-report.md").read_text()
    for expected in (
        f"- jaxtutor {__version__}\n", "- jax 0.", "- ✓ learner sandbox: starts in",
        "- ✓ environment: ", "- memory_mb: ", "- core ", "- JAXTUTOR_DEVICES=cpu\n",
        "- JAXTUTOR_HOME=~/home\n", "- devices: simulated: 4 CPU devices", "exit code 1 after",
    ):  # fmt: skip
        assert expected in text, expected
    assert SECRET not in text and str(tmp_path) not in text
    assert os.environ.get("PATH", "-") not in text


def test_a_report_replaces_no_file(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from tutor.cli import diagnosis

    result = diagnosis.Diagnosis(True, (), {}, "none", ())
    monkeypatch.setattr(diagnosis, "examine", lambda: result)
    monkeypatch.chdir(tmp_path)
    Path("mine.md").write_text("mine")
    assert main(["doctor", "--report", "mine.md"]) == 0
    assert Path("mine.md").read_text() == "mine"
    assert Path("mine-2.md").read_text().startswith("# jaxtutor bug report\n")
    assert main(["doctor", "--report", "nowhere/mine.md"]) == 0
    assert main(["doctor", "--report", "mine.md/x.md"]) == 2
