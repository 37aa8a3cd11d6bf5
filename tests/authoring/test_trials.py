"""`pack test`: a pack in which every lesson is wrong in its own way, and what is told of each."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace
from rich.console import Console

from tests.conftest import MINI, make_home
from tests.sandbox.processes import children, descendants
from tests.stopwatch import GUARD, until
from tutor.authoring import trial_output as output
from tutor.authoring.mutate import mutants
from tutor.authoring.pack_test import LessonResult, PackTest, TrialOptions, limit_remarks
from tutor.authoring.strength import Strength, strength
from tutor.authoring.trial import Outcome, Trial, attempt, chosen_cases
from tutor.checks.pure import Pure
from tutor.cli.progress_bar import progress_bar
from tutor.engine.plan import Configuration, plan
from tutor.engine.sandboxes import Cancel
from tutor.engine.session import Session
from tutor.lesson import Lesson, Limits
from tutor.manifest import Pack
from tutor.pack import load_pack
from tutor.pool.forks import Forks
from tutor.report import Fault
from tutor.sandbox.process import Cancelled, Failed, Sandbox

FAULTY = MINI.parents[1] / "faulty" / "lessons"
SEEDS = 4


class Tried:
    """All that a run told."""

    def __init__(self, pack: Pack) -> None:
        self.steps = 0
        asked = TrialOptions(seeds=SEEDS, jobs=2, mutate=True, variants=True)
        with PackTest(pack, list(pack.lessons), asked, self._heard) as test:
            self.expected = test.steps
            self.results = {result.lesson: result for result in test.results()}

    def _heard(self, steps: int) -> None:
        self.steps += steps

    def problem(self, lesson: str, name: str) -> str:
        """What does not hold, as it is told."""
        (outcome,) = [o for o in self.results[lesson].outcomes if o.name == name]
        told = output.outcome_text(outcome) if not outcome.holds else ""
        return told.replace("tests/packs/faulty/lessons/", "").replace(f"{FAULTY}/", "")


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tried]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAXTUTOR_HOME", str(make_home(tmp_path_factory.mktemp("trials"))))
        yield Tried(load_pack(FAULTY))


# --- what holds and what does not ------------------------------------------------------------


def test_only_what_is_sound_holds_and_all_are_told_in_the_order_of_the_pack(tried: Tried):
    assert [name for name, result in tried.results.items() if result.holds] == ["sound"]
    assert list(tried.results) == list(load_pack(FAULTY).lessons)
    kinds = [o.kind for o in tried.results["warns"].outcomes if o.kind != "idle"]
    assert kinds == ["solution", "starter", "variant", "variant"]
    names = [o.name for o in tried.results["mistaken"].outcomes if o.kind == "mistake"]
    assert names[:2] == ["it is right", "another check"]


def test_every_step_is_told_once(tried: Tried):
    assert tried.steps == tried.expected


def test_a_check_that_fails_under_some_seeds_is_flaky_and_the_seeds_are_named(tried: Tried):
    told = tried.problem("flaky", "solution")
    assert told.startswith("basics/flaky.yaml:17: solution: flaky, holds under ")
    assert "'the same' does not pass" in told
    assert "(seed" in told
    assert "it passes; 'the same' should fail" in tried.problem("flaky", "zero")
    solution = tried.results["flaky"].outcomes[0]
    assert 0 < len(solution.seeds) < solution.tried == SEEDS


def test_what_the_solutions_own_lines_call_that_is_deprecated_is_told(tried: Tried):
    told = tried.problem("warns", "solution")
    assert "it warns: warns.py:10: DeprecationWarning: twice is deprecated" in told


def test_variants_must_pass(tried: Tried):
    assert not tried.problem("warns", "quiet")
    assert "variant 'thrice': 'value: double(x)' does not pass" in tried.problem("warns", "thrice")


def test_a_starter_must_not_pass(tried: Tried):
    assert "starter: it passes" in tried.problem("open", "starter")


def test_examples_give_what_the_text_shows(tried: Tried):
    assert "`1 + 1` gives '2'; the text says '3'" in tried.problem("open", "line 2 of `after_pass`")


@pytest.mark.parametrize(
    ("code", "fails", "told"),
    [
        ("def double(x):\n    return 3 * x\n", "value", ""),
        ("def double(x):\n    return 3 * x\n", "again", "it fails at 'value', not at 'again': "),
        ("def double(x):\n    return 2 * x\n", "value", "it passes; a starter must leave"),
        ("import nowhere\n", "value", "it fails at load, not at 'value': "),
    ],
)
def test_a_starter_to_be_fixed_fails_where_it_should(
    mini: Pack, forks: Forks, code: str, fails: str, told: str
):
    lesson = replace(mini.lesson("double"), starter=code, starter_fails=fails)
    outcome = attempt(Trial(lesson, "starter", "starter", code, (0,)), forks)
    assert outcome.problem.startswith(told) and bool(told) != outcome.holds


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ("it is right", "it passes; 'value' should fail"),
        ("another check", "it fails at 'value', not at 'again'"),
        ("other words", "'value' does not say 'the moon'; it says: largest difference"),
        ("it loads", "it loads and fails at 'value'"),
        ("it does not load", "it fails at load, not at 'value'"),
        ("found twice", "'x' must occur once in the solution, got 2"),
    ],
)
def test_a_mistake_must_be_caught_where_and_as_it_says(tried: Tried, mistake: str, told: str):
    assert told in tried.problem("mistaken", mistake)


@pytest.mark.parametrize(
    ("lesson", "name", "place", "marked"),
    [
        ("mistaken", "it is right", "basics/mistaken.yaml", "fails: value"),
        ("mistaken", "another check", "basics/mistaken.yaml", "fails: again"),
        (
            "mistaken",
            "other words",
            "basics/mistaken.yaml",
            'says: [largest difference, "the moon"]',
        ),
        ("mistaken", "it loads", "basics/mistaken.yaml", "fails: load"),
        ("mistaken", "found twice", "basics/mistaken.yaml", 'edit: {"x": y}'),
        ("apart", "solution", "basics/apart.yaml", "value: double(x)"),
        ("broken", "solution", "basics/broken.yaml", "return "),
        ("open", "starter", "basics/open.yaml", "starter: |"),
        ("open", "line 2 of `after_pass`", "basics/open.yaml", "after_pass: |"),
        ("unsolved", "solution", "basics/unsolved.yaml", "id: unsolved"),
        ("warns", "thrice", "basics/warns.yaml", "- value: "),
        ("weak", "idle@less -> its input", "basics/weak.yaml", "- value: "),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tried: Tried, lesson: str, name: str, place: str, marked: str
):
    told = tried.problem(lesson, name)
    file, line, _ = told.split(":", 2)
    assert file == place
    rows = (FAULTY / place).read_text().splitlines()
    assert rows[int(line) - 1].strip().startswith(marked), rows[int(line) - 1]


def test_pytorch_and_solution_must_agree(tried: Tried):
    assert "the PyTorch and this answer disagree" in tried.problem("apart", "solution")
    assert "has no attribute 'twice'" in tried.problem("broken", "solution")


def test_a_lesson_without_a_solution_is_told_where_one_should_be(tried: Tried):
    assert "expected solutions/basics/unsolved.py" in tried.problem("unsolved", "solution")


def test_time_and_memory_are_told_beside_the_limits(tried: Tried):
    result = tried.results["sound"]
    assert 0 < result.seconds < result.seconds_limit == 20
    assert result.memory_limit_mb == 2048
    if sys.platform == "linux":
        assert result.memory_mb is not None
        assert 50 < result.memory_mb < 2048


def test_answers_that_are_no_text_or_no_python_do_not_hold(tmp_path: Path):
    shutil.copytree(FAULTY.parent, tmp_path / "faulty")
    folder = tmp_path / "faulty" / "solutions" / "basics"
    (folder / "open.py").write_text("def same(:\n")
    (folder / "sound.py").write_bytes(b"\xff\xfe")
    (folder / "warns" / "thrice.py").write_bytes(b"\xff\xfe")
    (folder / "warns.py").write_bytes((folder / "warns" / "quiet.py").read_bytes())
    pack = load_pack(tmp_path / "faulty" / "lessons")
    asked = TrialOptions(seeds=1, mutate=True, variants=True)
    with PackTest(pack, ["sound", "warns", "open"], asked) as test:
        sound, warns, same = test.results()
    wrong = [o for result in (sound, warns, same) for o in result.outcomes if not o.holds]
    places = {(o.lesson, o.kind): o.place for o in wrong}
    answers = f"{folder}"
    assert places[("sound", "solution")] == f"{answers}/sound.py"
    assert places[("warns", "variant")] == f"{answers}/warns/thrice.py"
    assert places[("open", "solution")] == f"{answers}/open.py:1"
    told = {(o.lesson, o.kind): o.problem for o in wrong}
    assert told[("sound", "solution")].startswith("it is not UTF-8")
    assert told[("warns", "variant")].startswith("it is not UTF-8")
    assert told[("open", "solution")].startswith("it does not load: line 1, column 10: SyntaxError")
    assert sound.strength is None
    assert same.strength is None


def test_what_takes_too_long_is_tried_once(mini: Pack, forks: Forks):
    lesson = replace(mini.lesson("double"), limits=Limits(seconds=0.5))
    trial = Trial(lesson, "solution", "solution", "while True: pass", (0, 1, 2))
    steps: list[int] = []
    outcome = attempt(trial, forks, on_seed=lambda: steps.append(1))
    assert outcome.timed_out
    assert "of processor time in the import of your code" in outcome.problem
    assert "(limit 0.5 s for all checks together)" in outcome.problem
    assert len(steps) == 1


def test_a_solution_that_looks_at_the_interpreter_does_not_hold(mini: Pack, forks: Forks):
    code = "import sys\n\ndef double(x):\n    sys._getframe()\n    return 2 * x\n"
    outcome = attempt(Trial(mini.lesson("double"), "solution", "solution", code, (0,)), forks)
    assert not outcome.holds
    told = output.outcome_text(outcome)
    assert "it reads the call stack at line 4 (`sys._getframe`): graders would have to" in told


def test_of_a_wrong_answer_nothing_is_run_after_the_check_that_notices(mini: Pack, forks: Forks):
    """A second call would never come back."""
    lesson = mini.lesson("double")
    code = """
asked = []
def double(x):
    asked.append(x)
    while len(asked) > 1:
        pass
    return 3 * x
"""
    with Session(lesson, code, sandboxes=forks) as session:
        report = session.check(all_checks=False)
    value, again = report.checks
    assert (value.status, again.status, again.message) == ("fail", "skipped", "not run")
    assert report.verdict == "fail"
    (thrice,) = lesson.mistakes
    outcome = attempt(Trial(lesson, "mistake", "thrice", code, (0,), thrice), forks)
    assert outcome.holds and outcome.verdict == "fail"


def test_after_five_seeds_right_answers_are_tried_in_one_case_and_not_for_structure(mini: Pack):
    lesson = mini.lesson("double")
    lesson = replace(lesson, checks=(*lesson.checks, Pure(name="kept", pure="double(x)")))
    trial = Trial(lesson, "variant", "sum", "", (0,))

    def chosen(before: int) -> list[list[int]]:
        planned = plan(lesson, before)
        return [[case.index for case in chosen_cases(trial, before, *one)] for one in planned]

    assert chosen(4) == [[0, 1, 2], [0, 1, 2], [0]]
    assert [chosen(before) for before in (5, 6, 7)] == [
        [[2], [2], []], [[0], [0], []], [[1], [1], []],
    ]  # fmt: skip
    structural = replace(lesson, checks=lesson.checks[2:])
    trial = replace(trial, lesson=structural)
    assert chosen_cases(trial, 6, *plan(structural, 6)[0]), "something is tried under every seed"


def test_after_five_seeds_a_mistake_only_has_to_fail_at_its_check(mini: Pack, forks: Forks):
    """Under the sixth seed, another check fails before it."""
    lesson = mini.lesson("double")
    first, second = lesson.checks
    lesson = replace(lesson, checks=(first, replace(second, value="tripled(x)", expect="3 * x")))
    code = """
calls = []
def double(x):
    calls.append(x)
    return 2 * x if len(calls) <= SEEDS * 3 else x
def tripled(x):
    return x
"""
    mistake = replace(lesson.mistakes[0], fails="again")
    for seeds, holds in ((5, True), (4, False)):
        trial = Trial(lesson, "mistake", "x", code.replace("SEEDS", str(seeds)), (), mistake)
        outcome = attempt(replace(trial, seeds=tuple(range(7))), forks)
        assert outcome.holds == holds, outcome.problem
    assert "it fails at 'value', not at 'again'" in outcome.problem


def test_checks_that_are_not_tried_do_not_count(mini: Pack, forks: Forks):
    lesson = mini.lesson("double")
    first, second = lesson.checks
    lesson = replace(lesson, checks=(first, replace(second, after="value")))
    with Session(lesson, "def double(x):\n    return 2 * x\n", sandboxes=forks) as session:
        report = session.check(choose=lambda check, cases: cases if check.name == "again" else [])
    assert [(check.name, check.status) for check in report.checks] == [("again", "pass")]
    assert report.passed


def test_many_seeds_do_not_pile_up_in_one_sandbox(
    mini: Pack, forks: Forks, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tutor.authoring.trial.RUNS", 2)
    code = "def double(x):\n    return 2 * x\n"
    lesson = mini.lesson("double")
    taken: list[Lesson] = []

    class Counted(Forks):
        def take(self, lesson: Lesson, place: Configuration) -> Sandbox:
            taken.append(lesson)
            return forks.take(lesson, place)

    with Counted() as counted:
        outcome = attempt(Trial(lesson, "solution", "solution", code, (0, 1, 2, 3, 4)), counted)
    assert outcome.holds
    assert (outcome.tried, len(taken)) == (5, 3)


def test_little_left_of_a_limit_is_a_remark(mini: Pack):
    lesson = replace(mini.lesson("double"), limits=Limits(seconds=4, memory_mb=1024))
    assert not list(limit_remarks(lesson, 1.9, 500))
    slow, large = limit_remarks(lesson, 2.5, 600)
    assert "2.5 of 4 s" in slow and "limits: {seconds: 5}" in slow
    assert "600 of 1024 MiB" in large and "limits: {memory_mb: 1200}" in large


# --- mutants ---------------------------------------------------------------------------------


def found(tried: Tried, lesson: str) -> Strength:
    counted = tried.results[lesson].strength
    assert counted is not None
    return counted


def test_a_check_that_looks_kills_every_mutant(tried: Tried):
    counted = found(tried, "sound")
    assert (counted.mutants, counted.killed, counted.rate) == (3, 3, 1.0)
    assert set(counted.killers.values()) == {"value: less(x, a)"}


def test_what_survives_a_weak_check_is_shown(tried: Tried):
    counted = found(tried, "weak")
    assert (counted.mutants, counted.killed, counted.equivalent) == (3, 1, 1)
    (survivor,) = counted.survivors
    assert survivor.mutant == "drop-operand@return x - a -> return x"
    assert survivor.diff.endswith("-    return x - a\n+    return x")
    assert counted.rate == 0.5


def test_marks_that_are_not_true_are_told(tried: Tried):
    killed, gone = sorted(found(tried, "weak").stale, key=len)
    assert "swap-operands@return x - a -> return a - x" in killed
    assert "is killed by 'value: less(x, a)'; remove the mark" in killed
    assert "there is no such mutant; did you mean 'flip-sign@return x - a" in gone


def test_from_a_mutant_that_takes_too_long_nothing_is_concluded():
    lesson = load_pack(FAULTY).lesson("weak")
    solution = "def less(x, a):\n    return x - a\n"
    made = mutants(solution)
    late = [
        Outcome(lesson.id, "mutant", mutant.name, tried=1, verdict="error", timed_out=True)
        for mutant in made
    ]
    counted = strength(lesson, made, late)
    assert (counted.killed, counted.stopped, counted.wrong) == (0, 3, 0)
    (gone,) = counted.stale  # not that one of them is killed
    assert "there is no such mutant" in gone
    result = LessonResult("weak", (), counted, 0, 20, None, 2048, ())
    assert "3 took too long and are not counted" in shown(result)


def test_an_answer_that_does_no_work_and_is_right_is_marked_with_a_reason(tmp_path: Path):
    """`less(x, zeros)` is x."""
    shutil.copytree(FAULTY.parent, tmp_path / "faulty")
    file = tmp_path / "faulty" / "lessons" / "basics" / "weak.yaml"
    mark = "  - mutant: 'idle@less -> {}'\n    reason: It is what the check cannot see.\n"
    file.write_text(file.read_text() + mark.format("its input") + mark.format("zeros"))
    asked = TrialOptions(seeds=1, mutate=False, variants=False)
    with PackTest(load_pack(tmp_path / "faulty" / "lessons"), ["weak"], asked) as test:
        (result,) = test.results()
    idle = {o.name: o.problem for o in result.outcomes if o.kind == "idle"}
    assert not idle["idle@less -> its input"]
    assert "is marked as equivalent" in idle["idle@less -> zeros"]
    assert not idle["idle@less -> NaN"]


def test_mutants_of_what_is_wrong_itself_are_not_counted(tried: Tried):
    assert tried.results["apart"].strength is None
    assert tried.results["unsolved"].strength is None


class Nowhere(Forks):
    """No sandbox is to be had."""

    def take(self, lesson: Lesson, place: Configuration) -> Sandbox:
        raise Failed(Fault("no-sandbox", "the sandbox did not start. Run `jaxtutor doctor`."))


def test_what_could_not_be_tried_is_not_held_against_the_lesson(mini: Pack, tmp_path: Path):
    trial = Trial(mini.lesson("double"), "starter", "starter", "", (0,))
    with Nowhere(tmp_path) as nowhere:
        outcome = attempt(trial, nowhere)
    assert outcome.ours
    result = LessonResult("double", (outcome,), None, 0, 4, None, 1024, ())
    assert "? starter: the sandbox did not start" in shown(result)
    assert "memory not measured on this system" in shown(result)
    root = ElementTree.fromstring(output.as_junit([result], "mini"))
    assert root.find("testsuite/testcase/error") is not None


# --- formats ---------------------------------------------------------------------------------


def shown(result: LessonResult) -> str:
    out = Console(file=StringIO(), width=10_000, color_system=None)
    out.print(output.lesson(result))
    assert isinstance(out.file, StringIO)
    return out.file.getvalue()


def test_people_are_told_everything_that_does_not_hold(tried: Tried):
    text = shown(tried.results["weak"])
    assert text.startswith("✗ weak  solution under 4 seeds, starter, 6 idle answers, 1 of 2 mut")
    assert "idle 'idle@less -> its input': it does no work and passes" in text
    assert "mutants: 50.0% killed, 0 by an exception; 1 survived" in text
    assert "95% must be killed" in text
    assert "survived: drop-operand@return x - a -> return x  (line 2)" in text
    assert "+    return x" in text
    lines = textwrap.dedent(text[text.index("\n", text.index("where such an answer is right")) :])
    marks = yaml.safe_load(lines)["equivalent"]
    assert [one["mutant"] for one in marks] == [
        *(one.name for one in tried.results["weak"].outcomes if one.passed_idly),
        "drop-operand@return x - a -> return x",
    ]
    assert "idle@less -> its input" in [one["mutant"] for one in marks]
    text = shown(tried.results["sound"])
    assert "equivalent:" not in text
    assert text.startswith(
        "✓ sound  solution under 4 seeds, starter, 1 mistake, 6 idle answers, 3 of"
    )
    assert "of 20 s" in text
    last = output.summary(list(tried.results.values()), "a/pack")
    assert last.startswith("✗ 8 of 9 lessons did not hold.")
    assert last.endswith("jaxtutor pack test a/pack weak flaky warns open mistaken apart broken "
                         "unsolved")  # fmt: skip


def test_programs_are_told_the_same(tried: Tried):
    data = json.loads(output.as_json(list(tried.results.values()), "faulty"))
    assert (data["pack"], data["holds"]) == ("faulty", False)
    lessons = {lesson["lesson"]: lesson for lesson in data["lessons"]}
    assert {name for name, lesson in lessons.items() if lesson["holds"]} == {"sound"}
    assert lessons["weak"]["strength"]["rate"] == 0.5
    solution = lessons["flaky"]["outcomes"][0]
    assert (solution["kind"], solution["check"], solution["holds"]) == (
        "solution", "the same", False,
    )  # fmt: skip
    assert solution["seeds"]


def test_junit_has_a_case_for_each_trial(tried: Tried):
    root = ElementTree.fromstring(output.as_junit(list(tried.results.values()), "faulty"))
    suites = {suite.get("name"): suite for suite in root}
    weak, mistaken = suites["weak"], suites["mistaken"]
    assert weak is not None and mistaken is not None
    assert (weak.get("tests"), weak.get("failures"), weak.get("errors")) == ("9", "2", "0")
    failure = weak.find("testcase[@name='mutants']/failure")
    assert failure is not None
    assert "+    return x" in (failure.text or "")
    assert mistaken.get("failures") == "6"
    assert mistaken.find("testcase[@name='mistake: it is right']/failure") is not None


def test_a_bar_with_rate_and_time_left_is_drawn_in_a_terminal_only():
    for terminal in (True, False):
        screen = StringIO()
        console = Console(file=screen, force_terminal=terminal, width=80)
        with progress_bar(console) as progress:
            bar = progress.add_task("trying", total=4)
            progress.advance(bar, 3)
            progress.refresh()
        assert ("3/4" in screen.getvalue()) == terminal


# --- stopping --------------------------------------------------------------------------------


def test_a_cancelled_trial_ends(mini: Pack, forks: Forks):
    cancel = Cancel()
    cancel.cancel()
    trial = Trial(mini.lesson("double"), "solution", "solution", "while True: pass", (0,))
    with pytest.raises(Cancelled):
        attempt(trial, forks, cancel)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tutor", "pack", "test", *arguments]


def jaxtutor(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, env=os.environ, timeout=GUARD,
        check=False,
    )  # fmt: skip


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A pack whose one solution never ends."""
    shutil.copytree(MINI.parent, tmp_path / "pack")
    (tmp_path / "pack" / "solutions" / "basics" / "tall.py").write_text("while True: pass\n")
    return tmp_path / "pack" / "lessons"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_ctrl_c_ends_it_and_leaves_no_process(endless: Path):
    running = subprocess.Popen(
        command(str(endless), "tall", "--jobs", "1"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ, text=True,
    )  # fmt: skip
    until(lambda: children(running.pid) or running.poll() is not None, "a sandbox")
    assert running.poll() is None, running.communicate()
    started = descendants(running.pid)
    folders = f"jaxtutor-{running.pid}-*"
    assert len(started) > 1
    assert list(Path(tempfile.gettempdir()).glob(folders))
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=GUARD)
    assert (running.returncode, err.strip()) == (130, "")
    assert "Traceback" not in out
    assert not list(Path(tempfile.gettempdir()).glob(folders))
    # They were killed; their new parent has to reap them.
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), "their end")


# --- the command -----------------------------------------------------------------------------


def test_a_good_lesson_exits_with_0_and_is_told_in_every_format(tmp_path: Path):
    file = tmp_path / "report.xml"
    pack = shutil.copytree(FAULTY.parent, tmp_path / "faulty") / "lessons"
    done = jaxtutor(
        str(pack), "sound", "--seeds", "2", "--jobs", "1", "--mutate", "--json",
        "--junit", str(file),
    )  # fmt: skip
    recorded = f"Recorded PyTorch's answers of 1 lesson in {pack / 'recorded'}\n"
    assert (done.returncode, done.stderr) == (0, recorded)
    assert json.loads(done.stdout)["lessons"][0]["strength"]["killed"] == 3
    assert ElementTree.parse(file).getroot()[0].get("name") == "sound"
    assert [path.name for path in (pack / "recorded").iterdir()] == ["sound.bin"]


def test_a_lesson_that_does_not_hold_exits_with_1_and_says_what_to_run():
    done = jaxtutor(str(FAULTY), "open", "--seeds", "1")
    assert (done.returncode, done.stderr) == (1, "")
    assert "basics/open.yaml:9: starter: it passes" in done.stdout
    assert done.stdout.rstrip().endswith(f"jaxtutor pack test {FAULTY} open")


def test_wrong_usage_and_broken_packs_exit_with_2(tmp_path: Path):
    broken = tmp_path / "broken"
    shutil.copytree(FAULTY, broken)
    lesson = broken / "basics" / "sound.yaml"
    lesson.write_text(lesson.read_text().replace("minutes: 1", "minutes: soon"))
    for arguments, told in (
        ((str(tmp_path / "nowhere"),), "no such directory"),
        ((str(broken),), "sound.yaml:4:10: minutes: must be an integer"),
        ((str(FAULTY), "sounds"), "there is no lesson 'sounds'"),
        ((str(FAULTY), "--seeds", "0"), "must be an integer from 1 to 100000, got '0'"),
    ):
        done = jaxtutor(*arguments)
        assert done.returncode == 2, done
        assert told in done.stderr
        assert "Traceback" not in done.stderr


def test_without_libcst_one_is_told_what_to_install():
    program = (
        "import sys; sys.modules['libcst'] = None; from tutor.cli import main; "
        f"sys.exit(main(['pack', 'test', {str(FAULTY)!r}, '--mutate']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=GUARD, check=False
    )
    assert done.returncode == 2
    assert "pip install 'jaxtutor[authors]'" in done.stderr
