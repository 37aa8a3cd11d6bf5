"""Every rule explains its own examples with the installed libraries, and no other rule does."""

from pathlib import Path

import pytest

from tests.explain.conftest import Kept, Provoke
from tutor.explain import Symptom, explain, rulebook
from tutor.explain.reader import read_rules
from tutor.explain.rule import Explanatory, Rule, several
from tutor.explain.rulebook import FOLDER, matches, rules
from tutor.lesson import Lesson, Limits

RULES = read_rules(FOLDER)

RAISED = [
    pytest.param(rule, source, id=f"{rule.id}-{number}" if number else rule.id)
    for rule in RULES.values()
    if rule.trial is None
    for number, source in enumerate(several(rule.provoke))
]
OTHERS = [
    pytest.param(rule, source, id=f"{rule.id}-{number}" if number else rule.id)
    for rule in RULES.values()
    if rule.trial is None
    for number, source in enumerate(several(rule.not_))
]
TRIED = [
    pytest.param(rule, source, id=f"{rule.id}-{number}" if number else rule.id)
    for rule in RULES.values()
    if rule.trial is not None
    for number, source in enumerate(several(rule.provoke))
]
NEARLY = [
    pytest.param(rule, source, id=f"{rule.id}-{number}" if number else rule.id)
    for rule in RULES.values()
    if rule.trial is not None
    for number, source in enumerate(several(rule.not_))
]


@pytest.mark.parametrize(("rule", "source"), RAISED)
def test_a_provoked_error_is_explained_by_its_rule_alone(rule: Rule, source: str, provoke: Provoke):
    symptom = provoke(source, rule.devices)
    assert symptom is not None, "nothing went wrong"
    found = matches(symptom)
    raised = f"{symptom.exception} ({symptom.fault}): {symptom.message}\nin: {symptom.line}"
    assert found, f"no rule for {raised}"
    assert found[0].rule.id == rule.id, f"{found[0].rule.id} explains {raised}"
    tied = [match.rule.id for match in found if match.weight == found[0].weight]
    assert tied == [rule.id], f"as specific as each other: {tied}"


@pytest.mark.parametrize(("rule", "source"), OTHERS)
def test_a_similar_error_is_not_explained_by_the_rule(rule: Rule, source: str, provoke: Provoke):
    symptom = provoke(source, rule.devices)
    found = matches(symptom) if symptom is not None else []
    assert rule.id not in [match.rule.id for match in found[:1]]


def tried(rule: Rule, source: str, kept: Kept) -> list[Symptom | None]:
    """Return the symptoms of a submission in the checks of a rule's trial."""
    assert rule.trial is not None
    lesson = Lesson(
        id=rule.id, title=rule.id, track="trials", minutes=1, brief="-", starter=source,
        torch=rule.trial.torch, hints=("-",), sizes=rule.trial.sizes, inputs=rule.trial.inputs,
        checks=rule.trial.checks, devices=rule.devices,
        limits=Limits(seconds=3 if "timeout" in several(rule.when.fault) else 60),
    )  # fmt: skip
    return kept.symptoms(lesson, source)


@pytest.mark.parametrize(("rule", "source"), TRIED)
def test_a_wrong_answer_is_explained_by_its_rule(rule: Rule, source: str, kept: Kept):
    wrong = next((symptom for symptom in tried(rule, source, kept) if symptom is not None), None)
    assert wrong is not None, "every check passes"
    explained = explain(wrong)
    assert explained is not None and explained.id == rule.id, f"{explained}: {wrong}"


@pytest.mark.parametrize(("rule", "source"), NEARLY)
def test_a_similar_wrong_answer_is_not_explained_by_the_rule(rule: Rule, source: str, kept: Kept):
    for symptom in tried(rule, source, kept):
        explained = explain(symptom) if symptom is not None else None
        assert explained is None or explained.id != rule.id, symptom


def test_rules_are_cached_until_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "some.yaml"
    text = (FOLDER / "faults.yaml").read_text()
    path.write_text(text)
    monkeypatch.setattr(rulebook, "FOLDER", tmp_path)
    read = rulebook.rules.__wrapped__
    before = read()
    assert before and read() == before
    path.write_text(text.replace("lesson: ", "lesson: other-"))
    assert [rule.lesson for rule in read()] == [f"other-{rule.lesson}" for rule in before]


def test_both_readers_return_the_same_rules():
    """Rules are read in two ways: fast, and with all problems reported."""
    read = rules()
    assert [rule.id for rule in read] == list(RULES)
    for rule in read:
        for name in Explanatory.__struct_fields__:
            assert getattr(rule, name) == getattr(RULES[rule.id], name), rule.id
