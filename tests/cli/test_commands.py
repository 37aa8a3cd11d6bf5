"""The command line: as a learner runs it where processes, pipes and terminals matter, in this
process elsewhere."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import called, jaxtutor
from tests.conftest import MINI
from tests.stopwatch import GUARD
from tutor.cli import main
from tutor.engine.submission import LoadedSandbox
from tutor.pack import open_pack
from tutor.report import Report
from tutor.sandbox.allowance import Allowance

DOUBLE = "def double(x):\n    return 2 * x\n"
THRICE = "def double(x):\n    return 3 * x\n"

pytestmark = pytest.mark.usefixtures("forked")


def checked(*arguments: str, code: str) -> tuple[int, Report]:
    done = called("check", *arguments, "--json", code=code)
    assert not done.stderr, done.stderr
    return done.returncode, Report.from_json(done.stdout)


# --- exit codes and reports ------------------------------------------------------------------


def test_a_wrong_answer_exits_with_1_and_says_where():
    code, report = checked("double", "-", code=THRICE)
    assert (code, report.verdict) == (1, "fail")
    mismatch = report.checks[0].mismatch
    assert mismatch is not None
    assert (mismatch.kind, mismatch.wrong, mismatch.total) == ("value", 12, 12)
    assert mismatch.entries


def test_code_that_breaks_exits_with_1():
    code, report = checked("double", "-", code="def double(x):\n    return x.unsqueeze(0)\n")
    assert (code, report.verdict) == (1, "error")
    assert "has no attribute 'unsqueeze'" in report.checks[0].message


def test_a_right_answer_exits_with_0_and_json_is_one_report_and_nothing_else():
    done = jaxtutor("check", "double", "-", "--json", code="print('hello')\n" + DOUBLE)
    assert (done.returncode, done.stderr) == (0, b"")
    report = json.loads(done.stdout)
    assert report["lesson"] == "double"
    assert report["verdict"] == "pass"
    assert report["stdout"] == "hello\n"
    assert report["seed"] == 0
    assert {"name", "kind", "status", "message", "mismatch"} <= report["checks"][0].keys()
    assert {"jax", "torch", "python", "jaxtutor"} <= report["versions"].keys()
    assert {"total", "race"} <= report["timings"].keys()
    assert Report.from_json(done.stdout).timings.race is not None
    assert report["isolation"]


def test_a_seed_draws_other_inputs_and_the_same_seed_the_same():
    def first(seed: str) -> str:
        _, report = checked("double", "-", "--seed", seed, code=THRICE)
        assert report.seed == int(seed)
        assert report.checks[0].mismatch is not None
        return report.checks[0].mismatch.entries[0].expected

    assert first("3") == first("3") != first("4")


@pytest.mark.parametrize("seed", ["-1", "x", "1.5", "18446744073709551616"])
def test_a_seed_that_is_none_is_wrong_usage(seed: str):
    assert called("check", "double", "-", f"--seed={seed}", code=DOUBLE).returncode == 2


GRADIENT = "checks:\n  - {grad: 'lambda x: double(x).sum()', at: [x]}\n"
FAULTS = {
    "raises": (
        "x.no_such_method()",
        "",
        "its PyTorch fails at value: AttributeError: 'Tensor' object has no attribute 'no_such",
        "return x.no_such",
    ),
    "is random": (
        "2 * x + x.clone().normal_()",
        "",
        "a second call gives another",
        "value: double",
    ),
    "is not a number": ("2 * x * float('nan')", "", "NaN", "value: double"),
    "has no gradient": ("2 * x.detach()", GRADIENT, "gradient", "- {grad"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_pack_is_told_with_file_and_line_and_is_not_ours(tmp_path: Path, fault: str):
    returned, checks, told, place = FAULTS[fault]
    pack = copied_pack(tmp_path)
    file = pack / "basics" / "double.yaml"
    edit(file, "return 2 * x", f"return {returned}")
    if checks:
        edit(file, "checks:\n", checks)
    lines = file.read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if text.strip().startswith(place))
    done = called("check", "double", "-", code=DOUBLE, pack=pack)
    assert done.returncode == 2, done.stdout
    text = " ".join(done.stdout.decode().split())
    assert told in text
    assert "not your fault" in text
    assert f"The fault is in the pack: {file}:{line}." in text
    assert "doctor" not in text


def test_a_sandbox_that_does_not_start_is_our_fault_and_exits_with_3(tmp_path: Path):
    # The interpreter is there, but jax cannot be imported: the memory does not suffice.
    done = subprocess.run(
        [
            "sh",
            "-c",
            f"ulimit -v 400000; exec {sys.executable} -m tutor check double - --pack {MINI}",
        ],
        input=DOUBLE.encode(),
        capture_output=True,
        timeout=GUARD,
        check=False,
    )
    assert done.returncode == 3, done
    assert b"jaxtutor doctor" in done.stdout
    assert b"Traceback" not in done.stderr


def test_a_machine_that_is_too_busy_exits_with_3_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    allowance = Allowance(20.0, wall=0.3, cores=lambda: 0.0)
    monkeypatch.setattr(LoadedSandbox, "allowance", lambda bench: allowance)
    path = tmp_path / "double.py"
    path.write_text("while True: pass\n")
    assert main(["check", "double", str(path), "--pack", str(MINI)]) == 3
    out = capsys.readouterr().out
    assert "this machine is too busy: the code got 0." in out
    assert "run it again when less is running" in " ".join(out.split())
    assert "not your fault" in out
    assert "doctor" not in out


def test_an_unknown_lesson_suggests_the_nearest():
    done = called("check", "duoble", "-", code=DOUBLE)
    assert done.returncode == 2
    assert b"did you mean 'double'?" in done.stderr


@pytest.mark.parametrize("command", ["check", "hint", "reset", "solution"])
def test_a_broken_lesson_is_reported_with_file_line_and_column(tmp_path: Path, command: str):
    pack = copied_pack(tmp_path)
    edit(pack / "basics" / "double.yaml", "hints:", "hnits:")
    done = called(command, "double", pack=pack)
    assert done.returncode == 2
    assert b"the pack cannot be used (2 problems):" in done.stderr
    assert b"double.yaml:16:1: unknown key 'hnits'; did you mean 'hints'?" in done.stderr


def test_a_broken_lesson_leaves_the_others_usable(tmp_path: Path):
    pack = copied_pack(tmp_path)
    edit(pack / "basics" / "tall.yaml", "hints:", "hnits:")
    assert called("hint", "double", pack=pack).returncode == 0
    done = called("check", "double", "-", code=DOUBLE, pack=pack)
    assert done.returncode == 0
    assert f"Next: jaxtutor check tall --pack {pack}  (Upright)".encode() in done.stdout
    assert "Upright" in called("list", pack=pack).stdout.decode()


def test_a_pass_before_a_lesson_without_a_title_is_a_pass(tmp_path: Path):
    pack = copied_pack(tmp_path)
    (pack / "basics" / "tall.yaml").write_text("title: [")
    done = called("check", "double", "-", code=DOUBLE, pack=pack)
    assert done.returncode == 0
    assert f"Next: jaxtutor check tall --pack {pack}  (tall)".encode() in done.stdout


def test_lessons_that_cannot_be_listed_are_all_reported(tmp_path: Path):
    pack = copied_pack(tmp_path)
    edit(pack / "basics" / "double.yaml", "title:", "titel:")
    (pack / "basics" / "tall.yaml").unlink()
    done = called("list", pack=pack)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the pack cannot be used (3 problems):" in done.stderr
    assert b"double.yaml:1:1: 'title' is missing" in done.stderr
    assert b"double.yaml:2:1: unknown key 'titel'; did you mean 'title'?" in done.stderr
    assert b"pack.yaml:7:23: lesson 'tall': the file basics/tall.yaml does not exist" in done.stderr


def test_a_broken_manifest_is_reported_whatever_is_asked(tmp_path: Path):
    pack = copied_pack(tmp_path)
    edit(pack / "pack.yaml", "[double, tall]", "[double, tall, double]")
    for arguments in (["list"], ["hint", "tall"]):
        done = called(*arguments, pack=pack)
        assert done.returncode == 2
        assert b"pack.yaml:7:29: duplicate lesson 'double'" in done.stderr


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"x = '\xff'\n", b":1:6: byte 0xff is not UTF-8"),
        (b"#" * (2 << 20), b"larger than 1024 KiB"),
    ],
    ids=["not UTF-8", "too large"],
)
def test_a_file_that_is_no_text_is_named_with_its_place(tmp_path: Path, data: bytes, words: bytes):
    file = tmp_path / "answer.py"
    file.write_bytes(data)
    done = called("check", "double", str(file))
    assert done.returncode == 2
    assert str(file).encode() in done.stderr
    assert words in done.stderr


def test_a_file_that_is_not_there():
    done = called("check", "double", "/nowhere/at/all.py")
    assert done.returncode == 2
    assert b"/nowhere/at/all.py: No such file" in done.stderr


def test_a_byte_order_mark_and_crlf_are_simply_read(tmp_path: Path):
    file = tmp_path / "answer.py"
    file.write_bytes(b"\xef\xbb\xbf" + DOUBLE.replace("\n", "\r\n").encode())
    assert called("check", "double", str(file)).returncode == 0


# --- the learner's own file ------------------------------------------------------------------


def test_check_makes_the_learners_file_and_then_reads_it(home: Path):
    own = home / "workspace" / "mini" / "double.py"
    first = called("check", "double")
    assert first.returncode == 1
    assert str(own).encode() in first.stderr
    assert "NotImplementedError" in own.read_text()
    own.write_text(DOUBLE)
    assert called("check", "double").returncode == 0
    assert status_of("double") == "passed"


def test_a_pass_is_never_taken_back_and_other_files_leave_no_trace(home: Path):
    own = home / "workspace" / "mini" / "double.py"
    called("check", "double", "-", code=DOUBLE)
    assert status_of("double") == "new"
    own.parent.mkdir(parents=True)
    own.write_text(DOUBLE)
    called("check", "double")
    own.write_text(THRICE)
    assert called("check", "double").returncode == 1
    assert status_of("double") == "passed"


def test_hints_come_one_by_one_and_the_last_stays():
    said = [called("hint", "double").stdout.decode() for _ in range(3)]
    assert "Hint 1 of 2" in said[0]
    assert "Add it to itself" in said[0]
    assert "Hint 2 of 2" in said[1]
    assert "Hint 2 of 2" in said[2]
    assert "solution double --anyway" in said[2]


def test_reset_keeps_a_backup(home: Path):
    own = home / "workspace" / "mini" / "double.py"
    called("check", "double")
    own.write_text("# hours of work\n")
    done = called("reset", "double")
    assert done.returncode == 0
    assert "NotImplementedError" in own.read_text()
    (backup,) = (own.parent / "backups").iterdir()
    assert backup.read_text() == "# hours of work\n"
    assert str(backup).encode() in done.stdout


def test_the_solution_is_for_those_who_have_passed(home: Path):
    refused = called("solution", "double")
    assert refused.returncode == 1
    assert b"--anyway" in refused.stderr
    assert called("solution", "double", "--anyway").stdout.decode() == DOUBLE
    own = home / "workspace" / "mini" / "double.py"
    called("check", "double")
    own.write_text(DOUBLE)
    called("check", "double")
    assert called("solution", "double").stdout.decode() == DOUBLE


def status_of(lesson: str) -> str:
    done = called("list", "--json")
    lessons = {one["id"]: one for one in json.loads(done.stdout)["lessons"]}
    return lessons[lesson]["status"]


# --- lists, versions, doctor -----------------------------------------------------------------


def test_list_shows_the_course_by_track():
    text = jaxtutor("list", pack=None).stdout.decode()
    places = [text.index(f"{name} ") for name in open_pack().lessons]
    assert places == sorted(places)


def test_list_as_json():
    lessons = json.loads(called("list", "--json").stdout)["lessons"]
    assert [one["id"] for one in lessons] == ["double", "tall"]
    assert lessons[1] == {
        "id": "tall",
        "title": "Upright",
        "track": "basics",
        "status": "new",
        "minutes": 1,
        "needs": ["double"],
        "review": False,
    }


def test_version_and_help():
    from tutor import __version__

    assert jaxtutor("--version").stdout.decode() == f"jaxtutor {__version__}\n"
    text = called("--help").stdout.decode()
    for command in ("list", "check", "watch", "hint", "reset", "solution", "doctor"):
        assert f"    {command}" in text


def test_doctor_says_what_there_is(home: Path):
    done = jaxtutor("doctor", "--json")
    diagnosis = json.loads(done.stdout)
    assert done.returncode == 0, diagnosis
    names = {finding["name"] for finding in diagnosis["findings"]}
    assert {"python", "jax", "torch", "learner sandbox", "reference sandbox", "workspace"} <= names
    assert "4 CPU devices" in diagnosis["devices"]
    assert {p["name"] for p in diagnosis["protections"]} >= {"memory", "environment", "network"}


def test_doctor_says_what_to_do_about_a_folder_that_cannot_be_written(tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = jaxtutor("doctor", JAXTUTOR_HOME=str(blocked / "home"))
    assert done.returncode == 1
    text = done.stdout.decode()
    assert "✗ workspace" in text
    assert "JAXTUTOR_HOME" in text


# --- plain text, pipes, accidents ------------------------------------------------------------


def test_a_pipe_gets_plain_text():
    done = jaxtutor("check", "double", "-", code=THRICE, pack=MINI)
    assert b"\x1b" not in done.stdout
    assert "✗ value".encode() in done.stdout


def test_a_terminal_that_knows_only_ascii_gets_no_traceback():
    done = jaxtutor("check", "double", "-", code=DOUBLE, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"double: 2 of 2 checks pass" in done.stdout


def test_a_reader_may_close_the_pipe_early():
    command = f"{sys.executable} -m tutor list --pack {MINI} | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=GUARD, check=False)
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


def test_the_app_needs_a_terminal():
    done = subprocess.run(
        [sys.executable, "-m", "tutor"], capture_output=True, timeout=GUARD, check=False, input=b""
    )
    assert done.returncode == 2
    assert b"needs a terminal" in done.stderr


def test_a_damaged_progress_database_is_set_aside(home: Path):
    database = home / "data" / "progress.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"this is no database, though it is quite long" * 100)
    done = called("list")
    assert done.returncode == 0
    assert b"was damaged" in done.stderr
    (kept,) = database.parent.glob("progress-damaged-*.db")
    assert kept.read_bytes().startswith(b"this is no database")
    assert called("list").stderr == b""


def test_our_own_failure_leaves_no_traceback_but_a_log(home: Path, tmp_path: Path):
    code = (
        "import tutor.engine.session, sys, tutor.cli\n"
        "def boom(*a, **k): raise RuntimeError(' '.join(['on', 'purpose']))\n"
        "tutor.engine.session.Session.check = boom\n"
        f"sys.exit(tutor.cli.main(['check', 'double', '-', '--pack', {str(MINI)!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"", capture_output=True, timeout=GUARD, check=False
    )
    assert done.returncode == 3
    assert b"internal error: RuntimeError: on purpose" in done.stderr
    assert b"This may be a bug in jaxtutor: run `jaxtutor doctor --report`." in done.stderr
    assert b"Traceback" not in done.stderr
    log = (home / "logs" / "jaxtutor.log").read_text()
    assert "in boom" in log and "RuntimeError" in log
    assert "on purpose" not in log, "an exception's text may quote a learner's code"


def copied_pack(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MINI.parent, tmp_path / "pack") / "lessons")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
