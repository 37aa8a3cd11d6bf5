"""`jaxtutor grade`, as an instructor runs it."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases import for_each
from tests.command import called, jaxtutor
from tests.conftest import MINI
from tests.grading import killed
from tests.sandbox.processes import children, descendants
from tests.stopwatch import GUARD, until
from tutor.cli.grade import grade as grade_command
from tutor.cli.override import override
from tutor.cli.parser import build_parser
from tutor.grading.journal import Journal

RIGHT, WRONG = killed.ANSWERS["double"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "here"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


def hand_in(**files: str) -> None:
    Path("hw").mkdir(exist_ok=True)
    for name, text in files.items():
        (Path("hw") / f"{name}.py").write_text(text)


def grade(*arguments: str, code: int = 0) -> "subprocess.CompletedProcess[bytes]":
    done = jaxtutor("grade", "hw", *arguments)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert b"Traceback" not in done.stderr
    return done


def lines(out: str = "hw-grades") -> dict[str, dict[str, Any]]:
    found = map(json.loads, Path(out, "results.jsonl").read_text().splitlines())
    return {line["submission"]: line for line in found}


def test_a_class_is_graded_and_an_override_lasts():
    hand_in(anna=RIGHT, ben=WRONG, carl="def double(x):\n    return y\n")
    done = grade("--lesson", "double", "--format", "gradebook.csv,junit.xml")
    assert b"3 results of 3 submissions: 1 error, 1 fail, 1 pass" in done.stdout
    assert b"needs review: carl: double: error" in done.stderr
    assert {name: line["score"] for name, line in lines().items()} == {
        "anna": 2.0, "ben": 0.0, "carl": None,
    }  # fmt: skip
    assert {"submission", "lesson", "verdict", "score", "max_score", "checks", "seed"} <= lines()[
        "anna"
    ].keys()
    assert Path("hw-grades/gradebook.csv").exists() and Path("hw-grades/junit.xml").exists()

    done = jaxtutor("grade", "override", "hw-grades", "carl", "double", "1.5",
                    "--reason", "a slip", "--by", "Kim", pack=None)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert lines()["carl"]["score"] == 1.5
    assert lines()["carl"]["override"]["reason"] == "a slip"
    assert lines()["anna"]["override"] is None

    summary = json.loads(grade("--lesson", "double", "--resume", "--json").stdout)
    assert summary["graded"] == 0 and summary["overridden"] == 1 and not summary["unsettled"]
    assert summary["seed"] == lines()["anna"]["seed"]
    assert lines()["carl"]["score"] == 1.5 and lines()["carl"]["score_before"] is None

    done = grade("--lesson", "double", code=2)
    assert b"hw-grades already holds a batch; continue it with --resume" in done.stderr
    done = grade("--lesson", "double", "--resume", "--seed", "3", code=2)
    assert b"leave out --seed" in done.stderr


def test_ungraded_submissions_are_reported_and_exit_with_3(here: Path):
    hand_in(anna=RIGHT, ben="")
    (here / "hw" / "carl.ipynb").write_text('{"cells": [{"cell_type": "code", "source": "%pip"}]}')
    (here / "hw" / "dora.pdf").write_text("x")
    done = grade("--lesson", "double", "--quiet", code=3)
    assert not done.stdout
    stderr = done.stderr.decode()
    assert "ben: double: ungraded: ben.py: the file is empty" in stderr
    assert "carl.ipynb: cell 1, line 1: `%pip`" in stderr
    assert "problem: dora.pdf: not a Python file" in stderr
    assert lines()["ben"]["score"] is None


def test_code_that_looks_at_the_interpreter_keeps_its_score_and_needs_review():
    hand_in(anna=RIGHT, ben=f"{RIGHT}\nimport sys\nwhere = sys._getframe()\n")
    done = grade("--lesson", "double", code=3)
    line = f"{RIGHT}\nimport sys\n".count("\n") + 1
    said = f"reads the call stack at line {line} (`sys._getframe`)"
    assert f"needs review: ben: double: pass: {said}" in done.stderr.decode()
    assert lines()["ben"]["score"] == 2.0
    assert lines()["ben"]["looks"] == [{"line": line, "kind": "stack", "name": "sys._getframe"}]
    assert lines()["anna"]["looks"] == []
    summary = json.loads(grade("--lesson", "double", "--resume", "--json", code=3).stdout)
    assert (summary["looking"], summary["unsettled"], summary["not_graded"]) == (1, 1, 0)

    done = jaxtutor("grade", "override", "hw-grades", "ben", "double", "2",
                    "--reason", "harmless", "--by", "Kim", pack=None)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"needs review" not in grade("--lesson", "double", "--resume").stderr


def test_the_packs_late_penalty_is_deducted(here: Path, tmp_path: Path):
    shutil.copytree(MINI.parent, tmp_path / "pack")
    manifest = tmp_path / "pack" / "lessons" / "pack.yaml"
    manifest.write_text(f"{manifest.read_text()}\ngrading:\n  late: {{percent_per_day: 10}}\n")
    hand_in(anna=RIGHT, ben=RIGHT)
    Path("late.csv").write_text(
        "submission,due,submitted_at\n*,2026-03-01,\nanna,,2026-03-02T10:00:00\nbee,,2026-03-01\n"
    )
    done = jaxtutor("grade", "hw", "--lesson", "double", "--pack", str(manifest.parent),
                    "--late", "late.csv", pack=None)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"--late: there is no submission 'bee'; did you mean 'ben'?" in done.stderr
    assert lines()["anna"]["score"] == 1.6
    assert "20 % of 2 points deducted" in lines()["anna"]["late"]["reason"]
    assert lines()["ben"]["score"] == 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hw", "--lesson", "dubble"], "there is no lesson 'dubble'; did you mean 'double'?"),
        (
            ["gone", "--lesson", "double"],
            "gone: no such file or directory; give a",
        ),
        (["hw/anna.py", "--lesson", "double"], "jaxtutor check double hw/anna.py"),
        (["hw", "--lesson", "double", "--only", "ann"], "no submission 'ann'; did you mean 'anna'"),
        (["hw", "--format", "gradebook.cvs"], "no format 'gradebook.cvs'; did you mean"),
        (["hw", "--late", "none.csv"], "none.csv: No such file"),
        (["hw", "--out", "hw"], "hw exists and is not a graded batch"),
        (["hw", "--seed", "-1"], "must be an integer from 0"),
        (["empty"], "there is nothing to grade"),
    ],
)
def test_wrong_usage_is_reported_and_exits_with_2(here: Path, arguments: list[str], message: str):
    hand_in(anna=RIGHT)
    (here / "empty").mkdir()
    done = called("grade", *arguments)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert not (here / "hw-grades").exists()


def test_a_lesson_or_pack_is_required():
    hand_in(anna=RIGHT)
    done = called("grade", "hw", pack=None)
    assert done.returncode == 2 and b"give --lesson ID" in done.stderr


def test_a_broken_pack_exits_with_2(here: Path, tmp_path: Path):
    hand_in(anna=RIGHT)
    shutil.copytree(MINI, tmp_path / "lessons")
    (tmp_path / "lessons" / "basics" / "tall.yaml").write_text("id: tall\n")
    done = called("grade", "hw", pack=tmp_path / "lessons")
    assert done.returncode == 2 and b"tall.yaml:1:1" in done.stderr


@for_each(
    ("arguments", "message"),
    [
        (["gone", "anna", "double", "1"], "gone holds no graded batch"),
        (["out", "ana", "double", "1"], "there is no submission 'ana'; did you mean 'anna'?"),
        (["out", "anna", "duoble", "1"], "anna has no result for 'duoble'; did you mean 'double'?"),
        (["out", "anna", "double", "one"], "must be a number of points"),
        (["out", "anna", "double", "nan"], "must be a number of points"),
        (["out", "anna", "double", "1", "--reason", " "], "--reason must not be empty"),
    ],
)
def test_a_wrong_override_is_refused(arguments: list[str], message: str):
    from tests.grading.test_journal import result

    with Journal(Path("out")) as journal:
        journal.add("key", result("anna"))
    before = Path("out/journal.jsonl").read_bytes()
    reason = [] if "--reason" in arguments else ["--reason", "why"]
    done = called("grade", "override", *arguments, *reason, pack=None)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert Path("out/journal.jsonl").read_bytes() == before


def test_a_directory_called_override_can_be_graded():
    parse = build_parser().parse_args
    decision = ("out", "anna", "double", "1", "--reason", "why")
    for before in ((), ("--pack", str(MINI)), ("-v",)):
        assert parse([*before, "grade", "override", *decision]).command is override
    options = parse(["grade", "./override", "--lesson", "double"])
    assert options.command is grade_command and options.submissions == "./override"


def test_submissions_are_not_run_without_isolation():
    """With protection of files turned off, as on a machine that lacks it."""
    hand_in(anna=RIGHT)
    program = (
        "import sys; from tutor.sandbox import launch; launch.WITHOUT = frozenset({'files'}); "
        "from tutor.cli import main; sys.exit(main())"
    )

    def run(*more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", program, "grade", "hw", "--pack", str(MINI), "--lesson",
             "double", *more],
            capture_output=True, text=True, env=os.environ, timeout=GUARD, check=False,
        )  # fmt: skip

    done = run()
    assert done.returncode == 2, done.stderr
    assert "files not covered on this machine" in done.stderr and "jaxtutor doctor" in done.stderr
    assert not Path("hw-grades").exists()
    done = run("--isolation", "warn")
    assert done.returncode == 0, done.stderr
    assert "running them anyway" in done.stderr
    assert lines()["anna"]["verdict"] == "pass"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_ctrl_c_keeps_what_was_graded_and_leaves_no_process():
    hand_in(anna=RIGHT, ben="while True: pass\n", carl=RIGHT)
    running = subprocess.Popen(
        [sys.executable, "-m", "tutor", "grade", "hw", "--pack", str(MINI), "--lesson", "double",
         "--jobs", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ, text=True,
    )  # fmt: skip
    journal = Path("hw-grades/journal.jsonl")
    until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 2, "two results")
    until(lambda: children(running.pid), "another sandbox")
    assert running.poll() is None
    started = descendants(running.pid)
    folders = f"jaxtutor-{running.pid}-*"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=GUARD)
    assert (running.returncode, out) == (130, "")
    assert "What was graded is kept in hw-grades" in err and "--resume" in err
    assert "Traceback" not in err
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), "their end")
    assert not list(Path(tempfile.gettempdir()).glob(folders))
    assert b'"anna"' in journal.read_bytes()


@pytest.mark.proof
def test_resume_continues_after_being_killed_at_any_moment(tmp_path: Path):
    """Ten kills; `make killed` does more."""
    handed_in = killed.submissions(tmp_path / "class", 5)
    seconds = killed.run(handed_in, tmp_path / "undisturbed")
    out = tmp_path / "out"
    killed.run_and_kill(handed_in, out, 10, seconds, random.Random(1))
    killed.run(handed_in, out)
    assert (out / "results.jsonl").read_bytes() == (
        tmp_path / "undisturbed/results.jsonl"
    ).read_bytes()
    assert killed.graded_once(out)


def test_the_steps_shown_for_github_run(here: Path):
    """Except for the steps that GitHub and pip do."""
    page = (Path(__file__).parents[2] / "docs" / "graders.md").read_text(encoding="utf-8")
    (workflow,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    steps = yaml.safe_load(workflow)["jobs"]["grade"]["steps"]
    commands = [step["run"].split() for step in steps if "jaxtutor " in step.get("run", "")]
    assert [command[:2] for command in commands] == [
        ["jaxtutor", "doctor"], ["jaxtutor", "grade"],
    ]  # fmt: skip
    shutil.copytree(MINI, here / "homework")
    (here / "hw1" / "anna").mkdir(parents=True)
    (here / "hw1" / "anna" / "double.py").write_text(RIGHT)
    done = jaxtutor(*commands[1][1:], pack=None)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (here / "grades").iterdir()} == {
        "results.jsonl", "journal.jsonl", "gradebook.csv", "junit.xml", "report.html",
    }  # fmt: skip
