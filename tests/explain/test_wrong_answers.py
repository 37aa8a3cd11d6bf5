"""Wrong answers are explained by their real cause or not at all."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import yaml
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from tests.conftest import course
from tests.explain.conftest import Kept
from tutor.check import Check, Finding
from tutor.checks.compare import compare
from tutor.engine.plan import configuration_of, plan
from tutor.explain import Symptom, explain, of_fault, of_finding
from tutor.explain.causes import causes_of
from tutor.explain.causes.comparison import comparison
from tutor.explain.rulebook import matches, rules
from tutor.lesson import Lesson, Limits, Module
from tutor.manifest import solution_folders
from tutor.pack.lesson_reader import LessonReader
from tutor.pack.yaml_nodes import read
from tutor.report import Fault
from tutor.tree import Leaf, Tree

HERE = Path(__file__).parent
COURSE = course()
WANTED = yaml.safe_load((HERE / "course.yaml").read_text())
RULES = {rule.id: rule for rule in rules()}


class Trial(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A small lesson, and the rule that must explain its example, a wrong answer."""

    rule: str
    torch: Module = "import torch\n"
    sizes: dict[str, int | tuple[int, ...]] = field(default_factory=dict)
    inputs: Annotated[dict[str, Any], Meta(extra={"holds": "draws"})] = field(default_factory=dict)
    checks: Annotated[tuple[Check, ...], Meta(extra={"holds": "checks"})]

    @property
    def source(self) -> str:
        return RULES[self.rule].example

    @property
    def lesson(self) -> Lesson:
        return Lesson(
            id="trial", title=self.rule, track="trials", minutes=1, brief="-", hints=("-",),
            starter=self.source, torch=self.torch, sizes=self.sizes, inputs=self.inputs,
            checks=self.checks, limits=Limits(seconds=300),
        )  # fmt: skip


class Trials(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of `trials.yaml`."""

    trials: tuple[Trial, ...]


def _trials() -> tuple[Trial, ...]:
    node, problems = read(HERE / "trials.yaml", "trials.yaml")
    reader = LessonReader("trials.yaml")
    read_trials: Trials | None = reader.struct(Trials, node)
    assert read_trials is not None and not problems + reader.problems, reader.problems
    return read_trials.trials


TRIALS = _trials()


def explained_by(symptom: Symptom | None) -> str | None:
    """Return the id of the rule that explains a symptom."""
    assert symptom is not None, "nothing is wrong"
    found = explain(symptom)
    return found.id if found is not None else None


@pytest.mark.parametrize("name", WANTED)
def test_a_mistake_of_the_course_is_explained_by_its_cause_or_not_at_all(name: str, kept: Kept):
    """In the check that first finds it, which `jaxtutor pack test` proves."""
    lesson = COURSE.lesson(name)
    # Only the messages matter here, even on a busy machine.
    lesson = replace(lesson, limits=replace(lesson.limits, seconds=300))
    solution = COURSE.solution(name)
    assert solution is not None
    mistakes = {mistake.name: mistake for mistake in lesson.mistakes}
    found = {}
    for mistake in (mistakes[one] for one in WANTED[name]):
        check = next(
            (c for c in lesson.checks if mistake.fails in (c.name, c.kind)), lesson.checks[0]
        )
        source = mistake.applied_to(solution)
        (symptom,) = kept.symptoms(lesson, source, check)
        found[mistake.name] = explained_by(symptom)
        _none_for_unrelated(lesson, check, source, kept)
    assert found == WANTED[name]


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.rule)
def test_a_rule_explains_its_trial_and_no_unrelated_answer(trial: Trial, kept: Kept):
    lesson = trial.lesson
    (symptom,) = kept.symptoms(lesson, trial.source)
    assert symptom is not None, "nothing is wrong"
    assert explained_by(symptom) == trial.rule, (symptom.message, symptom.causes)
    first, *others = matches(symptom)
    assert all(other.weight < first.weight for other in others)
    _none_for_unrelated(lesson, lesson.checks[0], trial.source, kept)


def _none_for_unrelated(lesson: Lesson, check: Check, source: str, kept: Kept) -> None:
    """Assert that no rule explains PyTorch's answers with unrelated numbers."""
    random = np.random.default_rng(0)
    cases = next(cases for one, cases in plan(lesson, 0) if one is check)
    for case in cases if check.kind in ("value", "grad") and check.refer() else ():
        expected = kept.expected(lesson, check, case)
        finding = check.judge(_with_other_numbers(expected, random), expected, case)
        if finding is not None:  # there are numbers in it
            devices = configuration_of(lesson, check).devices
            symptom = of_finding(finding, check, case, source, devices=devices)
            assert explained_by(symptom) is None, (check.name, symptom.causes)


def _with_other_numbers(tree: Tree, random: np.random.Generator) -> Tree:
    if isinstance(tree, dict):
        return {key: _with_other_numbers(child, random) for key, child in tree.items()}
    if isinstance(tree, list | tuple):
        return [_with_other_numbers(child, random) for child in tree]
    if not isinstance(tree, Leaf) or tree.array is None or tree.array.dtype.kind != "f":
        return tree
    numbers = 1.4 * tree.array + random.normal(0.3, 0.7, tree.array.shape)
    return Leaf(numbers.astype(tree.array.dtype), tree.type)


def test_every_rule_about_wrong_answers_is_proved():
    proved = {rule for mistakes in WANTED.values() for rule in mistakes.values()}
    proved |= {trial.rule for trial in TRIALS}
    about = {rule.id for rule in rules() if rule.when.finding or rule.when.cause}
    assert not about - proved


def test_no_rule_matches_the_words_of_our_own_checks():
    for rule in (rule for rule in rules() if rule.explains_answers):
        for when in (rule.when, *(other.when for other in rule.or_ if other.when is not None)):
            assert not (when.message or when.sizes or when.exception or when.line), rule.id


def test_the_words_of_a_finding_are_not_read():
    """Not even where they are those of an error that a rule explains."""
    said = "Gradient only defined for scalar-output functions. Output had shape: (3,)."
    assert explain(Symptom(exception="TypeError", message=said)) is not None
    lesson = COURSE.lesson("grad-basics")
    ((check, (case, *_)), *_) = plan(lesson, 0)
    symptom = of_finding(Finding(f"TypeError: {said}"), check, case, "", devices=1)
    assert said not in str(symptom) and explain(symptom) is None
    assert explain(of_fault(Fault("timeout", f"TypeError: {said}"), "")) is None


def test_advice_is_given_only_if_the_code_holds_what_it_changes():
    """Numbers alone show that something is so, not which line made it so."""
    by_numbers = [rule for rule in rules() if rule.when.cause and rule.instead]
    assert by_numbers and not [rule.id for rule in by_numbers if not rule.when.source]


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("y = jax.vmap(f, in_axes=1)(x)", "out-axes"),
        ("y = jax.vmap(f)(x).T", "axes-in-another-order"),
        ("y = jax.vmap(f, in_axes=1, out_axes=1)(x).mT", "axes-in-another-order"),
        ("y = x.T", "axes-in-another-order"),
    ],
)
def test_axes_are_vmaps_only_if_it_maps_another_axis(source: str, rule: str):
    fields = {"shape": "(3, 4)", "expected_shape": "(4, 3)", "axis": "1", "where": "The answer"}
    causes = dict.fromkeys(("axis-at-the-front", "axes-swapped"), fields)
    assert explained_by(Symptom(source=source, check="value", causes=causes)) == rule


def test_unrelated_wrong_numbers_of_right_code_are_not_explained():
    explained = []
    for path in (path for folder in solution_folders(COURSE.root) for path in folder.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        random = np.random.default_rng(len(source))
        for shape in ((), (5,), (4, 3), (2, 3, 4)):
            expected, actual, x = (
                Leaf(random.normal(size=shape).astype(np.float32), "jax.Array") for _ in range(3)
            )
            mismatch = compare(expected, actual)
            assert mismatch is not None
            compared = comparison(mismatch, expected, actual, None, {"x": x}, 4, source)
            assert compared is not None
            causes = causes_of(compared)
            symptom = Symptom(source=source, check="value", causes=causes)
            if (found := explain(symptom)) is not None:
                explained.append(f"{path.name}, {shape}: {found.id}")
    assert not explained, "\n".join(explained)
