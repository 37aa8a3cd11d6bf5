"""A batch as the command grades it: real sandboxes, a real journal, every submission once."""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Self

import pytest

from tests.conftest import MINI
from tutor.engine.plan import plan
from tutor.grading.batch import SEED_LIMIT, BatchOptions, BatchRunner, lesson_hash, run_seeds
from tutor.grading.batch_results import BatchResults
from tutor.grading.executors import Job, LocalExecutor
from tutor.grading.journal import Head, Journal
from tutor.grading.late import Times
from tutor.grading.result import Override, Result
from tutor.grading.results_file import results_line
from tutor.grading.submissions import Submissions
from tutor.manifest import Pack
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.report import Report
from tutor.sandbox import launch
from tutor.tree import Leaf

DOUBLE = "def double(x):\n    return 2 * x\n"
TALL = "def tall(x):\n    return x.T\n"
CLASS = {
    "anna/double.py": DOUBLE,
    "anna/tall.py": TALL,
    "ben/double.py": DOUBLE.replace("2", "3"),
    "ben/tall.py": "def tall(x):\n    return x.T.real_part\n",
    "carl/double.py": f"{DOUBLE}\nimport os\nos._exit(0)\n",
    "carl/tall.py": "",
}
VERDICTS = {
    ("anna", "double"): ("pass", 2.0),
    ("anna", "tall"): ("pass", 1.0),
    ("ben", "double"): ("fail", 0.0),
    ("ben", "tall"): ("error", None),
    ("carl", "double"): ("error", None),
    ("carl", "tall"): ("ungraded", None),
}


class Counting:
    """An executor that remembers what it was given."""

    def __init__(self, inner: LocalExecutor) -> None:
        self.inner = inner
        self.width = inner.width
        self.jobs: list[Job] = []
        self.most = 0
        self._under_way = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.inner.__exit__(*exception)

    def missing_protections(self, lesson: str) -> Sequence[str]:
        return self.inner.missing_protections(lesson)

    def stall_reason(self) -> str:
        return self.inner.stall_reason()

    def submit(self, job: Job) -> "Future[tuple[Report, ...]]":
        self.jobs.append(job)
        self._under_way += 1
        self.most = max(self.most, self._under_way)
        future = self.inner.submit(job)
        future.add_done_callback(lambda _: setattr(self, "_under_way", self._under_way - 1))
        return future

    @property
    def lessons(self) -> Counter[str]:
        """Of submissions; solutions are run before them."""
        return Counter(job.lesson for job in self.jobs if job.code not in (DOUBLE, TALL))


class Room:
    """Submissions, a pack that may be changed, and a folder for what comes of them."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.out = folder / "out"
        self.hw = folder / "hw"
        self._forks = forks
        shutil.copytree(MINI.parent, folder / "pack")
        self.lessons = folder / "pack" / "lessons" / "basics"
        self.root = folder / "pack" / "lessons"

    def put(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.hw / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def change(self, lesson: str, old: str, new: str) -> None:
        path = self.lessons / f"{lesson}.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def grade(self, *only: str, seed: int = 5, resume: bool = True, **order: int) -> Counting:
        pack = load_pack(self.root)
        lessons = tuple(pack.lessons)
        counting = Counting(LocalExecutor(pack, 2, forks=self._forks))
        with counting, Journal(self.out) as journal:
            journal.begin(Head(1, pack.id, "", seed, 1, lessons, "now"))
            with Submissions(self.hw, lessons) as submissions:
                asked = BatchOptions(lessons, seed, resume=resume, only=frozenset(only), **order)
                BatchRunner(pack, asked, submissions, journal, counting).run()
        return counting

    def results(self) -> dict[tuple[str, str], Result]:
        pack = load_pack(self.root)
        with Journal(self.out) as journal, Submissions(self.hw, tuple(pack.lessons)) as there:
            found = [*BatchResults(pack, [*pack.lessons], there, journal, Times(None, ()))]
        names = [(result.submission, result.lesson) for result in found]
        assert len(names) == len({*names}), "something is there twice"
        assert names == sorted(names, key=lambda pair: (pair[0], [*pack.lessons].index(pair[1])))
        return dict(zip(names, found, strict=True))


@pytest.fixture
def room(tmp_path: Path, forks: Forks) -> Room:
    return Room(tmp_path, forks)


def verdicts(room: Room) -> dict[tuple[str, str], tuple[str, float | None]]:
    return {pair: (found.verdict, found.score) for pair, found in room.results().items()}


def test_everybody_gets_what_they_deserve(room: Room):
    room.put(CLASS)
    room.grade()
    assert verdicts(room) == VERDICTS
    found = room.results()
    assert found["carl", "tall"].fault == "carl/tall.py: the file is empty"
    assert "ended the process" in found["carl", "double"].fault
    for result in found.values():
        assert result.seed == 5
        assert {"jaxtutor", "jax", "torch"} <= result.versions.keys()
        assert len(result.source_sha256) == 64
    assert [check.name for check in found["anna", "double"].checks] == ["value", "again"]


def test_the_same_seed_gives_the_same_bytes(room: Room):
    room.put(CLASS)
    room.grade()
    first = b"".join(map(results_line, room.results().values()))
    shutil.rmtree(room.out)
    room.grade()
    assert b"".join(map(results_line, room.results().values())) == first
    shutil.rmtree(room.out)
    room.grade(seed=6)
    assert b"".join(map(results_line, room.results().values())) != first
    assert verdicts(room) == VERDICTS


def test_what_is_graded_is_not_graded_again(room: Room):
    room.put(CLASS)
    room.grade()
    assert not room.grade().jobs
    room.put({"anna/double.py": DOUBLE + "\n\n# better\n", "dora/tall.py": TALL + "#\n"})
    assert room.grade().lessons == {"double": 1, "tall": 1}
    assert verdicts(room) == VERDICTS | {("dora", "tall"): ("pass", 1.0)}


def test_a_changed_lesson_regrades_what_it_touches(room: Room):
    room.put(CLASS)
    room.grade()
    room.change("double", "title: Twice as much", "title: Two times")
    room.change("double", "hints: [", "hints: [Think., ")
    assert not room.grade().jobs  # nothing that marks depend on
    room.change("double", "  - name: again\n", "  - name: again\n    points: 3\n")
    assert set(room.grade().lessons) == {"double"}
    assert room.results()["anna", "double"].score == 4.0


def test_one_submission_alone(room: Room):
    room.put(CLASS)
    room.grade("ben")
    assert {name for name, _ in room.results()} == {"ben"}
    room.grade()
    assert verdicts(room) == VERDICTS


def test_what_is_gone_stays_with_a_word(room: Room):
    room.put(CLASS)
    room.grade()
    shutil.rmtree(room.hw / "anna")
    room.grade()
    found = room.results()
    assert "submission removed" in found["anna", "tall"].notes[0]
    assert not found["ben", "double"].notes
    assert verdicts(room) == VERDICTS


def test_a_persons_word_outlives_every_run(room: Room):
    room.put(CLASS)
    room.grade()
    word = Override(0.75, "the idea is right", "kim", "2026-03-01T12:00:00+00:00")
    with Journal(room.out) as journal:
        journal.override("ben", "tall", word)
    room.put({"ben/tall.py": TALL.replace("x.T", "x")})
    room.change("tall", "minutes: 1", "minutes: 1\nsizes: {n: 3}")
    room.grade()
    room.grade(resume=False)
    result = room.results()["ben", "tall"]
    assert (result.verdict, result.score, result.final) == ("fail", 0.0, 0.75)
    assert result.override == word
    line = results_line(result)
    assert b'"score":0.75' in line and b'"score_before":0.0' in line and b"the idea" in line


# --- luck ------------------------------------------------------------------------------------

LUCKY = "def double(x):\n    return 2 * x if (x[0, 0] > 0) else 3 * x\n"


def lucky_seed(pack: Pack, runs: int) -> int:
    """A seed under which `LUCKY` is right, and not under the next that follows from it."""

    def right(seed: int) -> bool:
        cases = [case for _, cases in plan(pack.lesson("double"), seed) for case in cases]
        leaves = [case.inputs["x"] for case in cases]
        return all(isinstance(leaf, Leaf) and leaf.values[0, 0] > 0 for leaf in leaves)

    return next(
        seed
        for seed in range(10_000)
        if right(seed) and not any(map(right, run_seeds(seed, runs)[1:]))
    )


def test_a_lucky_pass_is_seen_by_repeating(room: Room, mini: Pack):
    seed = lucky_seed(mini, 3)
    room.put({"anna/double.py": LUCKY, "ben/double.py": DOUBLE})
    room.grade(seed=seed)
    assert room.results()["anna", "double"].verdict == "pass"
    room.grade(seed=seed, repeat=3)
    found = room.results()
    assert (found["anna", "double"].verdict, found["anna", "double"].runs) == ("fail", 3)
    assert "passed 1 of 3 runs" in found["anna", "double"].notes[0]
    assert (found["ben", "double"].verdict, found["ben", "double"].runs) == ("pass", 3)


def test_seeds_of_repeated_runs_follow_from_the_first():
    assert run_seeds(5, 4)[:3] == run_seeds(5, 3)
    assert len({*run_seeds(5, 100), *run_seeds(6, 100)}) == 200
    assert all(0 <= seed < SEED_LIMIT for seed in run_seeds(5, 100))


# --- what is not the submission's fault ------------------------------------------------------


def test_a_lesson_that_its_own_solution_fails_gives_no_marks(room: Room):
    room.put(CLASS)
    room.change("double", "return 2 * x", "return 4 * x")
    room.grade()
    found = room.results()
    for name in ("anna", "ben", "carl"):
        result = found[name, "double"]
        assert (result.verdict, result.score) == ("internal", None)
        assert "own solution does not pass" in result.fault
    assert found["anna", "tall"].verdict == "pass"
    room.change("double", "return 4 * x", "return 2 * x")
    assert set(room.grade().lessons) == {"double"}
    assert verdicts(room) == VERDICTS


def test_a_job_that_cannot_be_run_is_no_zero_and_is_tried_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
):
    room.put({"anna/tall.py": TALL + "#\n"})
    with monkeypatch.context() as patch:
        patch.setattr(launch, "WITHOUT", frozenset({"files"}))  # so that it is not covered
        room.grade()
    result = room.results()["anna", "tall"]
    assert (result.verdict, result.score) == ("internal", None)
    assert "files not covered" in result.fault
    room.grade()
    assert room.results()["anna", "tall"].verdict == "pass"


def test_few_are_handed_over_at_a_time(room: Room):
    room.put({f"{number:02}/tall.py": f"{TALL}# {number}\n" for number in range(20)})
    counting = room.grade()
    assert len(counting.jobs) == 21  # the solution first
    assert counting.most <= 2 * counting.width + 2


def test_a_lesson_hash_is_the_same_in_every_reading(room: Room):
    one, other = load_pack(room.root), load_pack(room.root)
    assert lesson_hash(one.lesson("double")) == lesson_hash(other.lesson("double"))
    assert lesson_hash(one.lesson("double")) != lesson_hash(one.lesson("tall"))


def test_what_takes_too_long_is_stopped_once_and_holds_nobody_up(room: Room):
    """It is not given more time: how busy this machine is makes no difference to what counts."""
    room.change("double", "seconds: 2", "seconds: 1.5")
    slow = "import time\nbegun = time.process_time()\n"
    slow += f"while time.process_time() < begun + 0.9: pass\n{DOUBLE}"
    endless = "def double(x):\n    while True: pass\n"
    room.put({"anna/double.py": slow, "ben/double.py": endless, "carl/double.py": slow})
    room.grade(repeat=2)
    found = {name: result for (name, _), result in room.results().items()}
    assert [found[name].verdict for name in ("anna", "ben", "carl")] == ["pass", "error", "pass"]
    assert [found[name].runs for name in ("anna", "ben", "carl")] == [2, 1, 2]
    assert found["ben"].score is None
    assert "of processor time in `double(x)`" in found["ben"].fault
