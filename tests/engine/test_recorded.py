"""Recorded answers: used for learners' inputs only, never trusted, compared by authors."""

import zlib
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.conftest import SHARED_CACHE, course
from tests.course.sample import SOLUTION_RUNS, sample_of
from tests.engine.conftest import RIGHT, Written
from tutor.authoring.recording import Recording, record
from tutor.engine import recorded, references
from tutor.engine.session import Session, run
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack.folder import MAX_BYTES
from tutor.pool.forks import Forks
from tutor.sandbox.wire import decode, encode
from tutor.tree import Leaf, Tree

KEY = "k" * 64


@pytest.fixture
def lesson(written: Written, forks: Forks, tmp_path: Path) -> Lesson:
    """Return a lesson with recorded answers."""
    lesson = written()
    assert record(lesson, tmp_path / "cache", forks.reference).written
    assert Path(lesson.recorded).is_file()
    return lesson


@pytest.fixture
def no_torch(lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove PyTorch, once the lesson's answers are recorded."""
    monkeypatch.setattr(references, "torch_installed", lambda: False)


def status(lesson: Lesson, seed: int, forks: Forks, cache: Path) -> str:
    with Session(lesson, RIGHT, sandboxes=forks, reference_cache=cache) as session:
        return session.check(seed).verdict


def answers(*numbers: float) -> dict[str, Tree]:
    return {"value#0": Leaf(np.asarray(numbers, np.float32), "torch.Tensor")}


@pytest.mark.usefixtures("no_torch")
def test_a_learners_inputs_are_checked_without_pytorch_and_no_others(
    lesson: Lesson, forks: Forks, tmp_path: Path
):
    cache = tmp_path / "empty"
    assert status(lesson, recorded.SEED, forks, cache) == "pass"
    assert status(lesson, recorded.SEED + 1, forks, cache) == "internal"
    with Session(lesson, "def double(x):\n    return x\n", sandboxes=forks) as session:
        assert session.check(recorded.SEED).verdict == "fail"


@pytest.mark.usefixtures("no_torch")
@pytest.mark.parametrize(
    "changes",
    [
        {"torch": "import torch\n\ndef double(x):\n    return 3 * x\n"},
        {"inputs": {"x": "normal(3, 5)"}},
        {"checks": [{"value": "double(x + 1)"}]},
    ],
    ids=["PyTorch", "inputs", "checks"],
)
def test_they_are_not_used_once_the_lesson_has_changed(
    lesson: Lesson, written: Written, forks: Forks, tmp_path: Path, changes: dict[str, object]
):
    assert status(written(**changes), recorded.SEED, forks, tmp_path / "empty") == "internal"


@pytest.mark.usefixtures("no_torch")
def test_they_are_used_after_a_change_of_the_text(
    lesson: Lesson, written: Written, forks: Forks, tmp_path: Path
):
    changed = written(brief="Write it.", hints=["Try."], limits={"seconds": 3})
    assert status(changed, recorded.SEED, forks, tmp_path / "empty") == "pass"


def test_recorded_answers_have_no_time_of_pytorch_but_the_race_has(lesson: Lesson, forks: Forks):
    with Session(lesson, RIGHT, sandboxes=forks) as session:
        report = session.check()
        assert report.checks[0].timing is not None
        assert report.checks[0].timing.torch is None
        race = session.add_race(report).timings.race
    assert race is not None and race.torch is not None and race.torch > 0


def test_an_author_is_told_when_pytorch_gives_something_else(
    lesson: Lesson, forks: Forks, tmp_path: Path
):
    def again() -> str:
        return record(lesson, tmp_path / "cache", forks.reference, again=True).problem

    assert again() == ""
    path = Path(lesson.recorded)
    before = path.read_bytes()
    frame = decode(zlib.decompress(before))
    assert isinstance(frame.tree, dict)
    about = msgspec.json.decode(frame.message)
    other: dict[str, Tree] = {
        str(case): Leaf(leaf.values + np.float32(0.1), leaf.type)
        for case, leaf in frame.tree.items()
        if isinstance(leaf, Leaf)
    }
    recorded.save(lesson.recorded, about["key"], other, {})
    assert "PyTorch now gives something else for value" in again()
    path.unlink()
    assert again() == ""
    assert path.read_bytes() == before


def test_an_installed_pack_is_only_compared(written: Written, forks: Forks, tmp_path: Path):
    lesson = written()
    assert record(lesson, tmp_path / "cache", forks.reference, write=False) == Recording()
    assert not Path(lesson.recorded).exists()


def test_what_is_saved_is_loaded_under_its_key_only(tmp_path: Path):
    path = str(tmp_path / "recorded" / "double.bin")
    recorded.save(path, KEY, answers(1, 2), {"torch": "2.0"})
    found = recorded.load(path, KEY)
    assert found is not None
    leaf = found["value#0"]
    assert isinstance(leaf, Leaf)
    assert leaf.values.tolist() == [1, 2]
    assert recorded.load(path, "other") is None
    assert recorded.load("", KEY) is None
    assert recorded.load(str(tmp_path / "missing.bin"), KEY) is None


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recorded, "MAX_UNPACKED", 1 << 16)
    path = tmp_path / "bomb.bin"
    recorded.save(str(path), KEY, answers(*[0.0] * (1 << 15)), {})
    assert path.stat().st_size < 1000
    assert recorded.load(str(path), KEY) is None


def test_what_does_not_fit_is_refused_when_it_is_recorded(tmp_path: Path):
    noise = np.random.default_rng(0).standard_normal(MAX_BYTES // 3).astype(np.float32)
    path = tmp_path / "large.bin"
    with pytest.raises(recorded.RecordingTooLarge):
        recorded.save(str(path), KEY, {"value#0": Leaf(noise, "torch.Tensor")}, {})
    assert not path.exists()
    path.write_bytes(bytes(MAX_BYTES + 1))
    assert recorded.load(str(path), KEY) is None


@settings(deadline=None, derandomize=True, max_examples=200)
@given(some.data())
def test_a_damaged_file_is_not_used(
    tmp_path_factory: pytest.TempPathFactory, data: some.DataObject
):
    path = tmp_path_factory.mktemp("recorded") / "double.bin"
    whole = zlib.compress(encode({"key": KEY, "versions": {}}, answers(1, 2)))
    changed = bytearray(whole)
    for _ in range(data.draw(some.integers(1, 3))):
        changed[data.draw(some.integers(0, len(whole) - 1))] ^= data.draw(some.integers(1, 255))
    path.write_bytes(bytes(changed[: data.draw(some.integers(0, len(whole)))]))
    assert recorded.load(str(path), KEY) is None


@given(some.binary(max_size=300))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_foreign_bytes_are_not_used(tmp_path_factory: pytest.TempPathFactory, data: bytes):
    path = tmp_path_factory.mktemp("recorded") / "double.bin"
    path.write_bytes(zlib.compress(data))
    assert recorded.load(str(path), KEY) is None


def test_every_lesson_of_the_course_has_current_answers(forks: Forks, pack: Pack):
    """Without PyTorch and with an empty cache, no check lacks an expected value."""
    from tutor.engine.plan import plan, requests

    for one in pack.lessons.values():
        asked = requests(one, plan(one, recorded.SEED))
        found = references.References(one, asked, Path("/nonexistent"), forks.reference)
        found.start()
        found.close()
        assert found.cached, f"run: jaxtutor pack test lessons {one.id} --seeds 1"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Compute the answers of a sample of the course anew, in proofs those of all lessons."""
    if metafunc.function is test_the_installed_pytorch_gives_the_recorded_answers:
        lessons = list(course().lessons)
        sampled = sample_of(metafunc.config).of(lessons, str, runs=SOLUTION_RUNS)
        everything = metafunc.config.getoption("proofs")
        metafunc.parametrize("lesson_id", lessons if everything else sampled)


def test_the_installed_pytorch_gives_the_recorded_answers(lesson_id: str, forks: Forks):
    one = course().lesson(lesson_id)
    compared = record(one, SHARED_CACHE / "references", forks.reference, write=False, again=True)
    assert compared == Recording()


def test_run_uses_them(lesson: Lesson, no_torch: None, forked: None):
    assert run(lesson, RIGHT).passed
