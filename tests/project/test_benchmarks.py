"""The benchmarks run, and report what they measured."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec.structs import replace

from benchmarks import __main__ as bench
from benchmarks import (
    breakdown,
    cold,
    crowd,
    failures,
    grading,
    growth,
    memory,
    processes,
    start,
    styles,
    warm,
)
from benchmarks.answers import CLASS, Answer, right, right_and_wrong, starter
from benchmarks.breakdown import Parts
from benchmarks.check import ColdCheck
from benchmarks.held_out import answers as held_out_answers
from benchmarks.held_out import held_out, names
from benchmarks.packs import PER_TRACK, make_pack
from benchmarks.results import UNKNOWN, Graded, JudgedAnswer, Results, fallen, ratios, targets
from benchmarks.samples import Summary, summary
from benchmarks.styles import Pause, Style
from tests.conftest import MINI
from tests.stopwatch import PATIENCE, until
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
        warm.wait(desk, mini.lesson("double"))
        warm.run_ahead(desk, mini.lesson("double"), f"{samples[0].answer.code}# Ahead.\n")
        told, report = warm.judge(
            desk.runner, mini.lesson("double"), f"{samples[0].answer.code}# Ahead.\n"
        )
        held = {name: memory.pss_mb(pid) for name, pid in desk.pool.processes().items()}
    assert [sample.answer.name for sample in samples] == ["right", "wrong", "starter"] * 2
    assert all(sample.correct for sample in samples)
    assert all(0 < sample.seconds < sample.report.timings.total + 1 for sample in samples)
    assert report.passed and told < 0.05
    assert held["zygote learner"] > 10


@pytest.mark.proof
def test_an_unknown_style_is_measured_first_after_an_edit_and_with_running_ahead(
    pack: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("JAXTUTOR_HOME", str(tmp_path))
    found = styles.measure(pack, ["arrays-at-updates"], ahead_every=1)
    (style,) = found.styles
    assert not found.wrong
    assert style.lesson == "arrays-at-updates" and not style.training
    assert style.first > 0 and style.edited > 0
    assert style.ahead is not None and style.ahead < style.first
    assert style.pause is not None and style.pause.together > 0
    assert {path.name for path in (tmp_path / "cache").iterdir()} <= set(styles.OF_THE_PACK)
    assert [*(tmp_path / "cache" / "programs").glob("arrays-at-updates-*")]


def test_the_first_failure_of_a_mistake_is_measured_and_its_verdict(pack: Pack):
    (failure,) = failures.measure(pack, ["arrays-hello"], every=100)
    assert failure.lesson == "arrays-hello"
    assert 0 < failure.first <= failure.verdict


def test_the_parts_of_a_first_run_are_measured(pack: Pack):
    lesson = pack.lesson("arrays-at-updates")
    known = breakdown.measure(lesson, pack.solution(lesson.id) or "")
    parts = breakdown.measure(lesson, held_out(lesson.id).code)
    assert parts.programs > known.programs
    assert min(parts.tracing, parts.lowering, parts.xla, parts.rest, parts.loading) > 0


@pytest.mark.proof
def test_a_style_that_does_not_pass_is_reported(pack: Pack, monkeypatch: pytest.MonkeyPatch):
    wrong = replace(held_out("arrays-at-updates"), code="")
    monkeypatch.setattr(styles, "held_out", lambda lesson: wrong)
    found = styles.measure(pack, ["arrays-at-updates"], ahead_every=1)
    assert not found.styles
    assert found.wrong == ["unknown style: arrays-at-updates: error"]


def test_lessons_of_all_tracks_have_answers_in_unknown_styles(pack: Pack):
    lessons = names()
    assert set(CLASS) <= set(lessons)
    assert all({*track.lessons} & {*lessons} for track in pack.manifest.tracks)
    for lesson in map(pack.lesson, lessons):
        answer = held_out(lesson.id)
        assert answer.code not in {known.code for known in right(pack, lesson)}
        assert answer.code != answer.edited


def test_processes_are_measured_and_waited_for():
    count = "while True: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {count!r}])"
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        used: Callable[[], float] = lambda: processes.processor_seconds(parent.pid, itself=False)  # noqa: E731
        try:
            until(lambda: used() > 0.2, "that it computes")
            with pytest.raises(TimeoutError, match="do not become idle"):
                processes.wait_until_idle(parent.pid, 0.1)
            assert processes.memory_mb(parent.pid) > 1
        finally:
            for process in reversed(processes.family(parent.pid)):
                process.kill()
    processes.wait_until_idle(parent.pid, PATIENCE)


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


def test_a_class_of_unknown_styles_has_no_variants(pack: Pack):
    mixed = grading.mixed(pack, 70, names=CLASS, right_ones=held_out_answers)
    assert {answer.lesson.id for answer in mixed} == set(CLASS)
    known = {path for name in CLASS for path in pack.variants(name)}
    labels = {f"{path.parent.name}/{path.stem}" for path in known}
    assert not labels & {answer.label for answer in mixed if answer.kind == "variant"}
    assert any(answer.kind == "variant" for answer in mixed)


def test_a_lesson_with_more_checks_is_still_a_lesson(pack: Pack):
    lesson = growth.with_checks(pack.lesson(growth.LESSON), 3)
    titles = [check.title for check in lesson.checks]
    assert len(set(titles)) == len(titles) == 3 * len(pack.lesson(growth.LESSON).checks)
    assert {name for check in lesson.checks for name in check.prerequisites} <= set(titles)


# --- telling -----------------------------------------------------------------------------------


def one(seconds: float) -> Summary:
    return Summary(seconds, seconds, seconds, 1)


def results(warm_seconds: float = 0.05) -> Results:
    judged = [
        JudgedAnswer("vmap-basics", "vmap-basics", "solution", one(warm_seconds), one(2), one(3)),
        JudgedAnswer("vmap-basics", "closures", "variant", one(0.1), one(2), one(3)),
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
        graded=[
            Graded(UNKNOWN, 200, 100),
            Graded("jaxtutor", 200, 40),
            Graded("pytest", 100, 200, ["vmap-basics/x"]),
        ],
        memory={"main": 60.0, "waiting 0": 90.0},
        growth=[bench.Point("checks", "verdict", 8, one(0.05))],
        profiles=[bench.Profile("vmap-basics", Parts(rest=0.03, programs=129), 0.05)],
        fork=one(0.04),
        wrong=[],
        styles=[
            Style("vmap-basics", "numpy-habits", False, 0.3, 0.18, 0.004, Pause(0.5, 1.25)),
            Style("vmap-cond", "from-torch", False, 1.7, 0.1),
            Style("optax-basics", "from-torch", True, 5.0, 4.0, 0.1, Pause(5, 6)),
            Style("pmap-train-mlp", "from-torch", False, 4.0, 3.0, solution=2.5),
        ],
        failures=[failures.Failure("vmap-basics", "the axes", 0.1, 0.3)],
        cold=[ColdCheck("vmap-basics", 2, 1, 3)],
        ahead={"ready": 400.0, "while running ahead": 450.0, "afterwards": 410.0},
        seconds={"unknown styles": 500.0, "grading": 100.0},
    )  # fmt: skip


def test_ratios_are_of_the_other_way_to_ours():
    found = ratios(results())
    assert found["verdict, vmap-basics: pytest"] == pytest.approx(60)
    assert found["verdict, vmap-basics: script"] == pytest.approx(40)
    assert found["grading: pytest"] == pytest.approx(10)
    assert found["grading, unknown styles: pytest"] == pytest.approx(4)
    assert found["cold check, vmap-basics: pytest"] == pytest.approx(1.5)
    assert found["first failure of a mistake: its verdict"] == pytest.approx(3)
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
    assert met["grading: against pytest"]
    assert not met["grading, unknown styles: against pytest"]
    assert not met["lessons whose operations are the solution's own"]
    assert met["save → verdict, the lesson's own solution: median"]
    assert not met["unknown style, first run: median"]
    assert met["unknown style, after an edit: median"]
    assert met["unknown style, with running ahead: 95th percentile"]
    assert not met["cold `jaxtutor check` against cold pytest, median"]


def test_results_are_written_as_data_a_page_and_a_picture(tmp_path: Path):
    worse = fallen(results(), results(0.07))
    bench.write(results(0.07), worse, tmp_path)
    again = msgspec.json.decode((tmp_path / "results.json").read_bytes(), type=Results)
    assert again == results(0.07)
    page = (tmp_path / "results.md").read_text()
    assert "**fell** from 60.00" in page
    assert "| vmap-basics/vmap-basics | 70 |" in page
    assert "pytest misjudges vmap-basics/x" in page
    # The first table is about what was not known.
    assert page.index("## Styles that were not known") < page.index("## Solutions that were known")
    assert "| all others, 2 | 1,000, 1,630 | 140, 176 | 4.0, 4.0 |" in page
    assert "| training, 2 | 4,500, 4,950 | 3,500, 3,950 | 100, 100 |" in page
    assert "| vmap-cond/from-torch | 1,700 | 100 | – |  |" in page
    assert "| together | 1.75 | 1.75 |" in page
    assert "| while running ahead | 450 |" in page
    assert "| vmap-basics | 100, 100 | 300, 300 |" in page
    assert "| vmap-basics | 129 | 0 | 0 | 0 | 30 | 0 | 20 | 50 |" in page
    assert "| vmap-basics | 2,000 | 1,000 | 3,000 | 1.5 × | 3.0 × |" in page
    assert "| together | 600 |" in page
    assert "vmap-basics</text>" in (tmp_path / "results.svg").read_text()


def test_older_results_are_read_and_those_of_another_form_are_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "results.json"
    older = msgspec.to_builtins(results())
    for new in ("styles", "failures", "cold", "ahead", "seconds"):
        del older[new]
    file.write_bytes(msgspec.json.encode(older))
    before = bench.read(file)
    assert before is not None and not fallen(before, results())
    file.write_bytes(msgspec.json.encode({**older, "judged": "others"}))
    assert bench.read(file) is None
    assert "nothing to compare with" in capsys.readouterr().err


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
