"""The Gradescope bundle, unpacked and run as Gradescope does."""

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import MINI
from tests.grading.outputs.test_gradescope import VALIDATOR
from tests.stopwatch import GUARD
from tutor import __version__
from tutor.cli import main
from tutor.grading.outputs.gradescope_bundle import build_bundle
from tutor.pack import load_pack

JAXTUTOR = Path(sys.executable).with_name("jaxtutor")


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpack a zip as Gradescope does: into `source`, with run_autograder above it."""
    source = folder / "source"
    with zipfile.ZipFile(archive) as zipped:
        for member in zipped.infolist():
            path = Path(zipped.extract(member, source))
            path.chmod(member.external_attr >> 16 & 0o777)
    shutil.copy(source / "run_autograder", folder / "run_autograder")
    (folder / "submission").mkdir()
    (folder / "results").mkdir()
    return folder


@pytest.fixture
def autograder(tmp_path: Path) -> Path:
    archive = tmp_path / "autograder.zip"
    assert main(["grade", "--pack", str(MINI), "--gradescope-bundle", str(archive)]) == 0
    folder = unpacked(archive, tmp_path / "autograder")
    # PyTorch's answers for this seed are cached.
    with (folder / "source" / "options").open("a") as options:
        options.write("--seed\n0\n")
    return folder


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "AUTOGRADER_ROOT": str(folder), "JAXTUTOR": str(JAXTUTOR)}
    return subprocess.run(
        [folder / "run_autograder"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=GUARD,
    )


def results(folder: Path) -> dict[str, Any]:
    done = run(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    data: dict[str, Any] = json.loads((folder / "results" / "results.json").read_text())
    VALIDATOR.validate(data)
    return data


def test_a_submission_is_graded_as_on_gradescope(autograder: Path):
    (autograder / "submission" / "double.py").write_text("def double(x):\n    return 2 * x\n")
    (autograder / "submission" / "tall.py").write_bytes(b"")
    data = results(autograder)
    assert data["score"] == 2
    assert {test["name"]: test["status"] for test in data["tests"]} == {
        "double: value": "passed",
        "double: again": "passed",
        "tall": "failed",
    }
    assert "the file is empty" in data["output"]
    assert list((autograder / "submission").iterdir())  # and untouched


def test_a_submission_without_any_lesson_gets_a_message(autograder: Path):
    (autograder / "submission" / "notes.txt").write_text("sorry")
    data = results(autograder)
    assert data["score"] == 0
    assert "double.py, tall.py" in data["output"]


def test_a_broken_pack_gives_no_results(autograder: Path):
    (autograder / "submission" / "double.py").write_text("def double(x):\n    return 2 * x\n")
    (autograder / "source" / "pack" / "basics" / "double.yaml").write_text("id: [")
    done = run(autograder)
    assert done.returncode == 1 and "double.yaml" in done.stderr
    assert not list((autograder / "results").iterdir())


def test_an_internal_fault_gives_no_results(autograder: Path):
    (autograder / "submission" / "double.py").write_text("def double(x):\n    return 2 * x\n")
    solution = autograder / "source" / "pack" / "solutions" / "basics" / "double.py"
    solution.write_text("def double(x):\n    return 3 * x\n")
    assert run(autograder).returncode == 1
    assert not list((autograder / "results").iterdir())


def test_the_bundle_contains_what_setup_needs(autograder: Path):
    source = autograder / "source"
    assert (source / "requirements.txt").read_text() == f"jaxtutor=={__version__}\n"
    assert (source / "options").read_text().split() == [
        "--lesson", "double", "tall", "--isolation", "require", "--seed", "0",
    ]  # fmt: skip
    for script in ("setup.sh", "run_autograder"):
        assert os.access(source / script, os.X_OK)
        subprocess.run(["bash", "-n", source / script], check=True)


def test_the_bundle_names_what_its_lessons_require(tmp_path: Path):
    folder = shutil.copytree(MINI.parent, tmp_path / "mini") / "lessons"
    lesson = folder / "basics" / "tall.yaml"
    required = 'requires: [equinox>=0.11, "jax>=0.10,<99"]\nminutes:'
    lesson.write_text(lesson.read_text().replace("minutes:", required))
    for lessons, needed in (
        (["double"], []),
        (["double", "tall"], ["equinox>=0.11", "jax>=0.10,<99"]),
    ):
        bundle = build_bundle(load_pack(folder), [], lessons)
        with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
            found = archive.read("requirements.txt").decode().splitlines()
        assert found == [f"jaxtutor=={__version__}", *needed]


def test_the_same_pack_gives_the_same_bytes_and_nothing_is_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "a.zip"
    command = ["grade", "--pack", str(MINI), "--gradescope-bundle", str(path)]
    assert main([*command, "--lesson", "double"]) == 0
    before = path.read_bytes()
    assert main([*command, "--lesson", "double"]) == 0
    assert path.read_bytes() == before
    assert main(command) == 2
    assert "exists and differs" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert main([*command, str(tmp_path)]) == 2
    assert "takes no SUBMISSIONS" in capsys.readouterr().err
