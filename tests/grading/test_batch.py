"""Grading a batch with real sandboxes and a real journal."""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Self

import pytest

from tests.conftest import MINI
from tests.stopwatch import until
from tutor.engine.plan import configuration_of, plan
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
    """An executor that records its jobs."""

    def __init__(self, inner: LocalExecutor) -> None:
        self.inner = inner
        self.width = inner.width
        self.jobs: list[Job] = []
        self.most = 0
        self._running = 0

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
        self._running += 1
        self.most = max(self.most, self._running)
        future = self.inner.submit(job)
        future.add_done_callback(lambda _: setattr(self, "_running", self._running - 1))
        return future

    @property
    def lessons(self) -> Counter[str]:
        """Count the submissions run per lesson, without solutions."""
        return Counter(job.lesson for job in self.jobs if job.code not in (DOUBLE, TALL))


class Homework:
    """Submissions, a pack that can be changed, and an output directory."""

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
                options = BatchOptions(lessons, seed, resume=resume, only=frozenset(only), **order)
                BatchRunner(pack, options, submissions, journal, counting).run()
        return counting

    def results(self) -> dict[tuple[str, str], Result]:
        pack = load_pack(self.root)
        with Journal(self.out) as journal, Submissions(self.hw, tuple(pack.lessons)) as there:
            found = [*BatchResults(pack, [*pack.lessons], there, journal, Times(None, ()))]
        names = [(result.submission, result.lesson) for result in found]
        assert len(names) == len({*names}), "a duplicate result"
        assert names == sorted(names, key=lambda pair: (pair[0], [*pack.lessons].index(pair[1])))
        return dict(zip(names, found, strict=True))


@pytest.fixture
def homework(tmp_path: Path, forks: Forks) -> Homework:
    return Homework(tmp_path, forks)


def verdicts(homework: Homework) -> dict[tuple[str, str], tuple[str, float | None]]:
    return {pair: (found.verdict, found.score) for pair, found in homework.results().items()}


def test_submissions_get_correct_verdicts(homework: Homework):
    homework.put(CLASS)
    homework.grade()
    assert verdicts(homework) == VERDICTS
    found = homework.results()
    assert found["carl", "tall"].fault == "carl/tall.py: the file is empty"
    assert "ended the process" in found["carl", "double"].fault
    for result in found.values():
        assert result.seed == 5
        assert {"jaxtutor", "jax", "torch"} <= result.versions.keys()
        assert len(result.source_sha256) == 64
    assert [check.name for check in found["anna", "double"].checks] == ["value", "again"]


def test_the_same_seed_gives_the_same_bytes(homework: Homework):
    homework.put(CLASS)
    homework.grade()
    first = b"".join(map(results_line, homework.results().values()))
    shutil.rmtree(homework.out)
    homework.grade()
    assert b"".join(map(results_line, homework.results().values())) == first
    shutil.rmtree(homework.out)
    homework.grade(seed=6)
    assert b"".join(map(results_line, homework.results().values())) != first
    assert verdicts(homework) == VERDICTS


def test_results_are_reused(homework: Homework):
    homework.put(CLASS)
    homework.grade()
    assert not homework.grade().jobs
    homework.put({"anna/double.py": DOUBLE + "\n\n# better\n", "dora/tall.py": TALL + "#\n"})
    assert homework.grade().lessons == {"double": 1, "tall": 1}
    assert verdicts(homework) == VERDICTS | {("dora", "tall"): ("pass", 1.0)}


def test_a_changed_lesson_is_graded_again(homework: Homework):
    homework.put(CLASS)
    homework.grade()
    homework.change("double", "title: Twice as much", "title: Two times")
    homework.change("double", "hints: [", "hints: [Think., ")
    advice = "after_pass: Well done.\nfailure_hints: [{fails: value, hint: Think.}]\nlimits:"
    homework.change("double", "limits:", advice)
    assert not homework.grade().jobs  # nothing that marks depend on
    homework.change("double", "  - name: again\n", "  - name: again\n    points: 3\n")
    assert set(homework.grade().lessons) == {"double"}
    assert homework.results()["anna", "double"].score == 4.0


def test_only_selects_submissions(homework: Homework):
    homework.put(CLASS)
    homework.grade("ben")
    assert {name for name, _ in homework.results()} == {"ben"}
    homework.grade()
    assert verdicts(homework) == VERDICTS


def test_a_removed_submission_keeps_its_result_with_a_note(homework: Homework):
    homework.put(CLASS)
    homework.grade()
    shutil.rmtree(homework.hw / "anna")
    homework.grade()
    found = homework.results()
    assert "submission removed" in found["anna", "tall"].notes[0]
    assert not found["ben", "double"].notes
    assert verdicts(homework) == VERDICTS


def test_an_override_survives_every_run(homework: Homework):
    homework.put(CLASS)
    homework.grade()
    word = Override(0.75, "the idea is right", "kim", "2026-03-01T12:00:00+00:00")
    with Journal(homework.out) as journal:
        journal.override("ben", "tall", word)
    homework.put({"ben/tall.py": TALL.replace("x.T", "x")})
    homework.change("tall", "minutes: 1", "minutes: 1\nsizes: {n: 3}")
    homework.grade()
    homework.grade(resume=False)
    result = homework.results()["ben", "tall"]
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


def test_repeating_finds_a_flaky_pass(homework: Homework, mini: Pack):
    seed = lucky_seed(mini, 3)
    homework.put({"anna/double.py": LUCKY, "ben/double.py": DOUBLE})
    homework.grade(seed=seed)
    assert homework.results()["anna", "double"].verdict == "pass"
    homework.grade(seed=seed, repeat=3)
    found = homework.results()
    assert (found["anna", "double"].verdict, found["anna", "double"].runs) == ("fail", 3)
    assert "passed 1 of 3 runs" in found["anna", "double"].notes[0]
    assert (found["ben", "double"].verdict, found["ben", "double"].runs) == ("pass", 3)


def test_seeds_of_repeated_runs_derive_from_the_first():
    assert run_seeds(5, 4)[:3] == run_seeds(5, 3)
    assert len({*run_seeds(5, 100), *run_seeds(6, 100)}) == 200
    assert all(0 <= seed < SEED_LIMIT for seed in run_seeds(5, 100))


# --- what is not the submission's fault ------------------------------------------------------


def test_a_lesson_whose_solution_fails_gives_no_scores(homework: Homework):
    homework.put(CLASS)
    homework.change("double", "return 2 * x", "return 4 * x")

    def line(lesson: str, text: str) -> int:
        """The first line of a lesson's file that contains a text."""
        rows = (homework.lessons / f"{lesson}.yaml").read_text().splitlines()
        return next(number for number, row in enumerate(rows, start=1) if text in row)

    homework.grade()
    found = homework.results()
    for name in ("anna", "ben", "carl"):
        result = found[name, "double"]
        assert (result.verdict, result.score) == ("internal", None)
        assert "own solution does not pass" in result.fault
        assert result.fault.startswith(f"basics/double.yaml:{line('double', 'value: ')}: ")
    homework.change("double", "return 4 * x", "return x.nowhere()")
    homework.grade()
    fault = homework.results()["anna", "double"].fault
    assert fault.startswith(f"basics/double.yaml:{line('double', 'return x.nowhere()')}: ")
    homework.change("double", "return x.nowhere()", "return 4 * x")
    assert found["anna", "tall"].verdict == "pass"
    homework.change("double", "return 4 * x", "return 2 * x")
    assert set(homework.grade().lessons) == {"double"}
    assert verdicts(homework) == VERDICTS


def test_a_job_that_cannot_be_run_has_no_score_and_is_retried(
    homework: Homework, monkeypatch: pytest.MonkeyPatch
):
    homework.put({"anna/tall.py": TALL + "#\n"})
    with monkeypatch.context() as patch:
        patch.setattr(launch, "WITHOUT", frozenset({"files"}))  # so that it is not covered
        homework.grade()
    result = homework.results()["anna", "tall"]
    assert (result.verdict, result.score) == ("internal", None)
    assert "files not covered" in result.fault
    homework.grade()
    assert homework.results()["anna", "tall"].verdict == "pass"


def test_variants_are_compiled_once_the_solution_has_passed(homework: Homework, tmp_path: Path):
    pack = load_pack(homework.root)
    lesson = pack.lesson("double")
    variant, configuration = "def double(x):\n    return x + x\n", configuration_of(lesson)
    with Forks(tmp_path / "cache") as own, LocalExecutor(pack, 2, forks=own) as executor:

        def learnt(code: str) -> bool:
            return bool(own.programs.load(lesson, configuration, code, 5))

        wrong = Job("double", DOUBLE.replace("2", "3"), (5,), learn=True, variants=(variant,))
        assert [report.verdict for report in executor.submit(wrong).result()] == ["fail"]
        assert not learnt(variant)
        right = Job("double", DOUBLE, (5,), learn=True, variants=(variant,))
        assert executor.submit(right).result()[0].passed
        assert learnt(DOUBLE)
        until(lambda: learnt(variant), "that the variant is compiled")


def test_few_jobs_are_submitted_at_a_time(homework: Homework):
    homework.put({f"{number:02}/tall.py": f"{TALL}# {number}\n" for number in range(20)})
    counting = homework.grade()
    assert len(counting.jobs) == 21  # the solution first
    assert counting.most <= 2 * counting.width + 2


def test_a_lesson_hash_is_reproducible(homework: Homework):
    one, other = load_pack(homework.root), load_pack(homework.root)
    assert lesson_hash(one.lesson("double")) == lesson_hash(other.lesson("double"))
    assert lesson_hash(one.lesson("double")) != lesson_hash(one.lesson("tall"))


def test_a_timeout_happens_once_and_delays_no_other(homework: Homework):
    """It is not given more time: how busy this machine is makes no difference to what counts."""
    homework.change("double", "seconds: 2", "seconds: 1.5")
    slow = "import time\nbegun = time.process_time()\n"
    slow += f"while time.process_time() < begun + 0.9: pass\n{DOUBLE}"
    endless = "def double(x):\n    while True: pass\n"
    homework.put({"anna/double.py": slow, "ben/double.py": endless, "carl/double.py": slow})
    homework.grade(repeat=2)
    found = {name: result for (name, _), result in homework.results().items()}
    assert [found[name].verdict for name in ("anna", "ben", "carl")] == ["pass", "error", "pass"]
    assert [found[name].runs for name in ("anna", "ben", "carl")] == [2, 1, 2]
    assert found["ben"].score is None
    assert "of processor time in `double(x)`" in found["ben"].fault
