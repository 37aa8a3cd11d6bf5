"""The benchmarks run, and report what they measured."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec.structs import replace

from benchmarks import __main__ as bench
from benchmarks import cold, crowd, grading, growth, memory, start, warm
from benchmarks.answers import Answer, right_and_wrong, starter
from benchmarks.breakdown import Parts
from benchmarks.packs import PER_TRACK, make_pack
from benchmarks.results import Graded, JudgedAnswer, Results, fallen, ratios, targets
from benchmarks.samples import Summary, summary
from tests.conftest import MINI
from tutor.manifest import Pack
from tutor.pack import load_pack


def test_packs_made_for_measuring_are_valid(tmp_path: Path):
    pack = load_pack(make_pack(tmp_path / "pack", PER_TRACK + 2))
    assert len(pack.lessons) == PER_TRACK + 2
    assert [len(track.lessons) for track in pack.manifest.tracks] == [PER_TRACK, 2]


def test_a_start_is_measured_for_list_and_app_for_the_first_time_and_later():
    course = start.Course("mini", MINI, "Basics")
    found = list(start.starts(course, 1))
    assert [series.name for series in found] == [
        "list, mini, first",
        "app, mini, first",
        "list, mini, later",
        "app, mini, later",
    ]
    assert [len(series.seconds) for series in found] == [3, 3, 1, 1]
    assert all(0 < second < start.PATIENCE for series in found for second in series.seconds)


def test_what_is_never_painted_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(start, "PATIENCE", 1.0)
    with pytest.raises(TimeoutError, match="never painted: b'no such text'"):
        start.first_frame(["--pack", str(MINI)], "no such text", tmp_path, 1)


def test_a_crowd_is_told_who_passed_and_why_others_did_not(tmp_path: Path):
    file = tmp_path / "double.py"
    file.write_text("def double(x):\n    return 2 * x\n")
    jobs = [crowd.Job(name, file, str(MINI)) for name in ("double", "tall", "none")]
    right, wrong, neither = crowd.run_concurrently(jobs, tmp_path)
    assert right.passed and right.exit_code == 0
    assert not wrong.passed and "your code does not define `tall`" in crowd.failure_reason(wrong)
    assert not neither.passed and "exit code 2" in crowd.failure_reason(neither)
    assert all(one.seconds > 0 for one in (right, wrong, neither))


# --- measuring ---------------------------------------------------------------------------------


def answers(mini: Pack) -> list[Answer]:
    lesson = mini.lesson("double")
    right = "def double(x):\n    return 2 * x\n"
    wrong = "def double(x):\n    return 3 * x\n"
    return [
        Answer(lesson, "right", "solution", right, ("pass",)),
        Answer(lesson, "wrong", "mistake", wrong, ("fail",)),
        starter(lesson),
    ]


def test_verdicts_are_measured_from_a_sandbox_that_waits(mini: Pack):
    with warm.desk(mini) as desk:
        samples = list(warm.measure(desk, answers(mini), 2))
        assert desk.pool is not None
        held = {name: memory.pss_mb(pid) for name, pid in desk.pool.processes().items()}
    assert [sample.answer.name for sample in samples] == ["right", "wrong", "starter"] * 2
    assert all(sample.correct for sample in samples)
    assert all(0 < sample.seconds < sample.report.timings.total + 1 for sample in samples)
    assert held["zygote learner"] > 10


@pytest.mark.proof
def test_the_same_checks_are_measured_as_a_script_and_in_pytest(mini: Pack, tmp_path: Path):
    prepared = [cold.prepare(tmp_path, answer) for answer in answers(mini)]
    for how in cold.COMMANDS:
        samples = list(cold.measure(prepared, how, 1))
        assert [sample.passed for sample in samples] == [True, False, False]


def test_grading_is_measured_with_the_verdicts_it_gives(mini: Pack):
    right, wrong, not_begun = answers(mini)
    batch = grading.ours(mini, [right, wrong, replace(wrong, accepted=("pass",)), not_begun], 5)
    assert batch.verdicts == ["pass", "fail", "fail", "error"]
    assert batch.misjudged == ["double/wrong"]
    assert batch.per_second == pytest.approx(4 / batch.seconds)


def test_a_class_is_mixed_of_all_lessons(pack: Pack):
    count = 10 * len(pack.lessons)
    mixed = grading.mixed(pack, count)
    for lesson in map(pack.lesson, pack.lessons):
        right, wrong = right_and_wrong(pack, lesson)
        mine = [answer for answer in mixed if answer.lesson.id == lesson.id]
        assert len(mine) == 10
        assert {answer.name for answer in mine} <= {answer.name for answer in [*right, *wrong]}
    assert 0.5 <= sum("pass" in answer.accepted for answer in mixed) / count <= 0.86
    assert mixed == grading.mixed(pack, count) != grading.mixed(pack, count, seed=1)


def test_a_lesson_with_more_checks_is_still_a_lesson(pack: Pack):
    lesson = growth.with_checks(pack.lesson(growth.LESSON), 3)
    titles = [check.title for check in lesson.checks]
    assert len(set(titles)) == len(titles) == 3 * len(pack.lesson(growth.LESSON).checks)
    assert {name for check in lesson.checks for name in check.prerequisites} <= set(titles)


# --- telling -----------------------------------------------------------------------------------


VERDICT = "save → verdict, each lesson's solution, starter and "


def one(seconds: float) -> Summary:
    return Summary(seconds, seconds, seconds, 1)


def results(warm_seconds: float = 0.05) -> Results:
    judged = [
        JudgedAnswer(
            "vmap-basics", "vmap-basics", "solution", one(warm_seconds), None, one(2), one(3)
        ),
        JudgedAnswer("vmap-basics", "closures", "variant", one(0.1), one(1), one(2), one(3)),
        JudgedAnswer("vmap-basics", "starter", "starter", one(0.01), None, one(1), one(2)),
    ]
    return Results(
        machine={"cores": "2"},
        judged=judged,
        screen={"vmap-basics": one(0.08)},
        starts={
            "import textual": one(0.15),
            "list, built-in, later": one(0.08),
            "app, built-in, later": one(0.4),
        },
        check={
            "verdict": one(1.2), "end": one(2), "import jax": one(0.5), "the run itself": one(0.5),
        },
        graded=[Graded("jaxtutor", 200, 40), Graded("pytest", 100, 200, ["vmap-basics/x"])],
        memory={"main": 60.0, "waiting 0": 90.0},
        growth=[bench.Point("checks", "verdict", 8, one(0.05))],
        profiles=[bench.Profile("vmap-basics", Parts(rest=0.03, loading=0.001), 0.05)],
        fork=one(0.04),
        wrong=[],
    )  # fmt: skip


def test_ratios_are_of_the_other_way_to_ours():
    found = ratios(results())
    assert found["verdict, vmap-basics: pytest"] == pytest.approx(60)
    assert found["verdict, vmap-basics: script"] == pytest.approx(40)
    assert found["grading: pytest"] == pytest.approx(10)
    assert found["app, built-in, later: import textual"] == pytest.approx(0.375)
    assert found["check: import jax and the run"] == pytest.approx(1 / 1.2)


@pytest.mark.parametrize(("seconds", "flagged"), [(0.05, False), (0.06, False), (0.07, True)])
def test_a_ratio_that_fell_by_more_than_a_fifth_is_flagged(seconds: float, flagged: bool):
    worse = fallen(results(), results(seconds))
    assert ("verdict, vmap-basics: pytest" in worse) == flagged
    assert not fallen(results(seconds), results())


def test_what_was_promised_is_met_or_it_is_said_that_it_is_not():
    met = {target.what: target.met for target in targets(results())}
    assert met["start: list, built-in, later"]
    assert not met["start: app, built-in, later"]
    assert met["grading against pytest"]
    assert not met["lessons whose operations are the solution's own"]
    assert met[f"{VERDICT}a known variant: median"]
    assert not met[f"{VERDICT}an unseen variant: 95th percentile"]


def test_results_are_written_as_data_a_page_and_a_picture(tmp_path: Path):
    worse = fallen(results(), results(0.07))
    bench.write(results(0.07), worse, tmp_path)
    again = msgspec.json.decode((tmp_path / "results.json").read_bytes(), type=Results)
    assert again == results(0.07)
    page = (tmp_path / "results.md").read_text()
    assert "**fell** from 60.00" in page
    assert "| vmap-basics/vmap-basics | 70 |" in page
    assert "pytest misjudges vmap-basics/x" in page
    assert "vmap-basics</text>" in (tmp_path / "results.svg").read_text()


@given(some.lists(some.floats(0, 1e6), min_size=1, max_size=50))
def test_a_summary_is_of_its_samples(samples: list[float]):
    found = summary(samples)
    slack = 1e-9 * max(samples)  # of interpolation
    assert min(samples) - slack <= found.p5 <= found.median + slack
    assert found.median - slack <= found.p95 <= max(samples) + slack
    assert found.n == len(samples)


def test_the_committed_results_are_readable_and_belong_together():
    folder = Path(bench.__file__).parent
    kept = msgspec.json.decode((folder / "results.json").read_bytes(), type=Results)
    assert not kept.wrong
    page = (folder / "results.md").read_text()
    for target in targets(kept):
        assert f"| {target.what} | {target.goal} | {target.measured} |" in page
    assert {answer.lesson for answer in kept.judged} <= set(load_pack().lessons)
