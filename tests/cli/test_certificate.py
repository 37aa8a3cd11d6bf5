"""`jaxtutor certificate`: what was proved of a finished track, run again before it is written."""

import json
from pathlib import Path

import pytest
import yaml

from tests.command import called
from tutor.learner.certificate import Certificate
from tutor.learner.progress import Progress
from tutor.report import Report

PACK = """
format: 1
id: small
title: A *small* pack
version: "1.5"
tracks:
  - {id: basics, title: Basics, lessons: [double, half, late, both], review: both}
"""
LESSON = {
    "title": "A number", "track": "basics", "minutes": 1, "brief": "Write it.",
    "hints": ["Multiply."], "inputs": {"x": "normal(3)"},
}  # fmt: skip
RIGHT = {"double": "2 * x", "half": "x / 2", "late": "3 * x", "both": "x + x"}

pytestmark = pytest.mark.usefixtures("forked")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    (folder / "basics").mkdir(parents=True)
    (folder / "pack.yaml").write_text(PACK)
    for name, right in RIGHT.items():
        source = f"import torch\n\ndef {name}(x):\n    return {right}\n"
        fields = {
            **LESSON, "id": name, "torch": source, "starter": f"def {name}(x): ...\n",
            "checks": [{"name": f"{name} it", "value": f"{name}(x)"}],
        }  # fmt: skip
        if name == "late":
            fields["requires"] = ["no-such-package"]
        (folder / "basics" / f"{name}.yaml").write_text(yaml.safe_dump(fields))
    return folder


def write(home: Path, name: str, expression: str) -> None:
    path = home / "workspace" / "small" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"def {name}(x):\n    return {expression}\n")


def passes(*names: str) -> None:
    with Progress() as progress:
        for name in names:
            progress.record("small", Report(name, "pass", ()))


def certificate(root: Path, folder: Path, *more: str) -> tuple[int, str, str]:
    done = called("certificate", *more, "--output", str(folder), pack=root)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_an_unfinished_track_gets_none_and_the_next_lesson_is_named(root: Path, tmp_path: Path):
    passes("double")
    code, _, errors = certificate(root, tmp_path, "basics")
    assert code == 1
    assert "basics is not finished; not passed: half, both" in errors
    assert f"jaxtutor check half --pack {root}" in errors
    assert not list(tmp_path.glob("certificate*"))


def test_a_finished_track_is_run_again_and_written_down(root: Path, tmp_path: Path, home: Path):
    for name in ("double", "half", "both"):
        write(home, name, RIGHT[name])
    passes("double", "half", "both")
    with Progress() as progress:
        progress.take_hint("small", "half", 1)
    code, said, errors = certificate(root, tmp_path, "basics", "--name", "Ada | L.")
    assert (code, errors) == (0, ""), errors
    assert "✓ double: 1 checks, 3 seeds" in said
    found = Certificate.from_json((tmp_path / "certificate-small-basics.json").read_bytes())
    assert [lesson.id for lesson in found.lessons] == ["double", "half", "both"]
    assert (found.name, found.pack_version, found.skipped) == ("Ada | L.", "1.5", ("late",))
    half = found.lessons[1]
    assert (half.checks, half.hints, half.intact) == (("half it",), 1, True)
    assert len(set(half.seeds)) == 3
    assert {"jax", "torch", "jaxtutor"} <= found.versions.keys()
    page = (tmp_path / "certificate-small-basics.md").read_text()
    assert "the code of Ada \\| L. for these lessons" in page
    assert "A \\*small\\* pack 1.5." in page
    assert "passed all 3." in page and "half it" in page and "`late`" in page
    # A second one does not replace the first.
    certificate(root, tmp_path, "basics")
    assert (tmp_path / "certificate-small-basics-2.json").exists()


def test_code_that_no_longer_passes_gets_none(root: Path, tmp_path: Path, home: Path):
    write(home, "double", "3 * x")
    passes("double", "half", "both")
    code, _, errors = certificate(root, tmp_path, "basics")
    assert code == 1
    assert "✗ double: double it: " in errors and "jaxtutor check double --seed" in errors
    assert not list(tmp_path.glob("certificate*"))


def test_lessons_that_are_known_from_the_review_are_named_and_not_run(
    root: Path, tmp_path: Path, home: Path
):
    write(home, "both", RIGHT["both"])
    passes("both")
    code, _, errors = certificate(root, tmp_path, "basics", "--seeds", "1")
    assert code == 0, errors
    found = Certificate.from_json((tmp_path / "certificate-small-basics.json").read_bytes())
    assert [lesson.id for lesson in found.lessons] == ["both"]
    assert found.known == ("double", "half")


def test_a_course_runs_the_code_in_a_certificate_again(root: Path, tmp_path: Path, home: Path):
    write(home, "both", RIGHT["both"])
    passes("both")
    certificate(root, tmp_path, "basics", "--seeds", "1")
    path = tmp_path / "certificate-small-basics.json"
    done = called("certificate", "--verify", str(path), pack=root)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "✓ both: passes under 3 other seeds" in done.stdout.decode()

    data = json.loads(path.read_bytes())
    data["lessons"][0]["code"] = "def both(x):\n    return 3 * x\n"
    path.write_text(json.dumps(data))
    done = called("certificate", "--verify", str(path), pack=root)
    assert done.returncode == 1
    assert "the code is not the one that was proved" in done.stdout.decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "not a certificate"),
        ("\ud800", "not a certificate"),
        (None, "No such file"),
        (('{"format": 2, "pack": "", "pack_title": "", "track": "", "track_title": "", '
         '"issued": "2026-01-01T00:00:00Z", "lessons": []}'), "newer than this jaxtutor"),
    ],
)  # fmt: skip
def test_what_is_no_certificate_is_refused(text: str | None, said: str, root: Path, tmp_path: Path):
    path = tmp_path / "c.json"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
    done = called("certificate", "--verify", str(path), pack=root)
    assert done.returncode == 2
    assert said in done.stderr.decode() and "Traceback" not in done.stderr.decode()


def test_a_track_that_does_not_exist_is_named(root: Path, tmp_path: Path):
    code, _, errors = certificate(root, tmp_path, "basic")
    assert code == 2 and "did you mean 'basics'?" in errors
