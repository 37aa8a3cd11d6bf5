"""Lessons with data files of their pack: training on them, damaged ones, recorded answers, and that
no submission can read them."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import Written
from tutor.authoring.expected import remarks_on_expected
from tutor.authoring.recording import record
from tutor.engine import recorded, references
from tutor.engine.session import Session
from tutor.inputs.data_files import load
from tutor.lesson import Lesson
from tutor.pack import open_pack
from tutor.pack.places import locate
from tutor.pool.forks import Forks
from tutor.report import CheckResult, Report

TORCH = """
import torch

def fit(x, y):
    w, losses = torch.zeros(x.shape[1]), []
    for _ in range(8):
        error = x @ w - y
        losses.append((error**2).mean())
        w = w - 0.2 * x.T @ error / len(x)
    return losses, w
"""
RIGHT = """
import jax.numpy as jnp

def fit(x, y):
    w, losses = jnp.zeros(x.shape[1]), []
    for _ in range(8):
        error = x @ w - y
        losses.append((error**2).mean())
        w = w - 0.2 * x.T @ error / len(x)
    return losses, w
"""
CHECK = {
    "learns": "fit(x, y)", "data": "plants", "predict": "x @ trained", "error": 1.0,
    "below": "reference * 1.01",
}  # fmt: skip
CHANGES: dict[str, Any] = {
    "torch": TORCH,
    "starter": "def fit(x, y):\n    raise NotImplementedError\n",
    "data": {"plants": {"file": "plants.csv", "x": ["a", "b"], "y": "c", "standardise": True}},
    "inputs": {},
    "checks": [CHECK],
}
PLANTS = "a,b,c\n" + "".join(f"{n % 5},{n % 7},{n % 5 - n % 7 / 2:.1f}\n" for n in range(70))


@pytest.fixture
def plants(tmp_path: Path) -> Path:
    path = tmp_path / "pack/data/plants.csv"
    path.parent.mkdir(parents=True)
    path.write_text(PLANTS.replace("\n0,0,", "\n0,0.5,"))
    return path


@pytest.fixture
def lesson(written: Written, plants: Path) -> Lesson:
    return written(**CHANGES)


def checked(lesson: Lesson, code: str, forks: Forks, cache: Path | None = None) -> Report:
    with Session(lesson, code, sandboxes=forks, reference_cache=cache) as session:
        return session.check()


def only(report: Report) -> CheckResult:
    (result,) = report.checks
    return result


def test_a_training_on_a_data_file_is_checked(lesson: Lesson, forks: Forks):
    report = checked(lesson, RIGHT, forks)
    assert report.passed, only(report)
    (note,) = only(report).notes
    assert note.startswith("8 losses, from ")
    assert "; mean squared error " in note and note.endswith(" on 14 held-out plants")
    wrong = only(checked(lesson, RIGHT.replace("losses, w", "losses, 9 + w"), forks))
    assert wrong.status == "fail"
    assert "on 14 held-out plants, expected at most 1. The losses are right" in wrong.message


def test_a_submission_cannot_read_the_file(lesson: Lesson, plants: Path, forks: Forks):
    report = checked(lesson, RIGHT + f"\nopen({str(plants)!r})\n", forks)
    assert report.fault is not None
    assert "PermissionError" in report.fault.message


MEND = "correct it, or leave the row out"


def line_of(plants: Path, text: str) -> int:
    rows = (plants.parents[1] / "basics/double.yaml").read_text().splitlines()
    return next(number for number, row in enumerate(rows, 1) if text in row)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\n2,2,", "\n2,two,", f"data/plants.csv, line 4: 'b' must be a number, got 'two'; {MEND}"),
        ("", "", "data/plants.csv: has changed since the lesson was read; start again"),
    ],
    ids=["damaged", "changed"],
)
def test_a_file_that_cannot_be_used_is_the_packs_fault(
    written: Written, plants: Path, forks: Forks, old: str, new: str, said: str
):
    plants.write_text(plants.read_text().replace(old, new, 1) if old else PLANTS)
    lesson = written(**CHANGES)
    if not old:
        plants.write_text(PLANTS + "1,1,1.0\n")
        load.cache_clear()
    report = checked(lesson, RIGHT, forks)
    assert report.verdict == "internal" and report.fault is not None
    assert report.fault.code == "broken-pack"
    assert report.fault.message == f"lesson double is broken: {said}"
    place = locate(open_pack(plants.parents[1]), lesson, report, report.fault)
    assert place == f"{plants.parents[1]}/basics/double.yaml:{line_of(plants, 'file: plants.csv')}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return losses, w", "return losses[0]", "it gives one loss"),
        ("(error**2).mean())", "error)", "it gives losses of shape (8, 56)"),
        ("0.2 * x.T", "0 * x.T", "which is `below`"),
    ],
    ids=lambda text: text,
)
def test_a_training_in_pytorch_that_cannot_be_compared_is_the_packs_fault(
    written: Written, plants: Path, forks: Forks, tmp_path: Path, old: str, new: str, said: str
):
    checks = [CHECK | {"below": 0.1}] if "0 *" in new else [CHECK]
    lesson = written(**CHANGES | {"torch": TORCH.replace(old, new), "checks": checks})
    result = only(checked(lesson, RIGHT, forks))
    assert result.status == "internal" and result.fault is not None
    assert result.fault.code == "broken-pack"
    assert "its PyTorch fails at learns: fit(x, y)" in result.message
    assert said in result.message
    cache = tmp_path / "home/cache/references"
    found = [*remarks_on_expected(lesson, cache, forks.reference, failures=True)]
    assert [one.code for one in found] == ["no-reference"]
    assert said in found[0].message


def test_recorded_and_cached_answers_are_used_until_the_file_changes(
    written: Written, plants: Path, forks: Forks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    lesson = written(**CHANGES)
    cache = tmp_path / "cache"
    assert record(lesson, cache, forks.reference).written
    assert Path(lesson.recorded).stat().st_size < 1000
    monkeypatch.setattr(references, "torch_installed", lambda: False)
    assert checked(lesson, RIGHT, forks, tmp_path / "empty").passed
    Path(lesson.recorded).rename(tmp_path / "kept.bin")
    assert checked(lesson, RIGHT, forks, cache).passed
    (tmp_path / "kept.bin").rename(lesson.recorded)
    plants.write_text(plants.read_text() + "1,1,1.0\n")
    for folder in (cache, tmp_path / "empty"):
        report = checked(written(**CHANGES), RIGHT, forks, folder)
        assert only(report).fault is not None
        assert only(report).fault.code == "no-torch"  # type: ignore[union-attr]


def test_a_recording_of_something_else_is_the_packs_fault(
    lesson: Lesson, forks: Forks, tmp_path: Path
):
    import zlib

    import msgspec
    import numpy as np

    from tutor.sandbox.wire import decode
    from tutor.tree import Leaf

    assert record(lesson, tmp_path / "cache", forks.reference).written
    key = msgspec.json.decode(decode(zlib.decompress(Path(lesson.recorded).read_bytes())).message)
    case = f"{lesson.checks[0].title}#0"
    for tree in ("text", {"a": None}, Leaf(np.zeros((2, 2)), "torch.Tensor")):
        recorded.save(lesson.recorded, key["key"], {case: tree}, {})
        result = only(checked(lesson, RIGHT, forks))
        assert result.status == "internal" and result.fault is not None
        assert result.fault.code == "broken-pack"
