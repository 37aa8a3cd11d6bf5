"""Every rule explains what it says it explains, as today's libraries raise it, and no other."""

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
def test_what_a_rule_provokes_is_explained_by_it_and_by_no_other_as_well(
    rule: Rule, source: str, provoke: Provoke
):
    symptom = provoke(source, rule.devices)
    assert symptom is not None, "nothing went wrong"
    found = matches(symptom)
    told = f"{symptom.exception} ({symptom.fault}): {symptom.message}\nin: {symptom.line}"
    assert found, f"no rule for {told}"
    assert found[0].rule.id == rule.id, f"{found[0].rule.id} explains {told}"
    tied = [match.rule.id for match in found if match.weight == found[0].weight]
    assert tied == [rule.id], f"as specific as each other: {tied}"


@pytest.mark.parametrize(("rule", "source"), OTHERS)
def test_what_only_looks_like_it_is_not_explained_by_a_rule(
    rule: Rule, source: str, provoke: Provoke
):
    symptom = provoke(source, rule.devices)
    found = matches(symptom) if symptom is not None else []
    assert rule.id not in [match.rule.id for match in found[:1]]


def tried(rule: Rule, source: str, kept: Kept) -> list[Symptom | None]:
    """What the checks of a rule's trial find in a submission."""
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
def test_an_answer_that_is_wrong_in_another_way_is_not(rule: Rule, source: str, kept: Kept):
    for symptom in tried(rule, source, kept):
        explained = explain(symptom) if symptom is not None else None
        assert explained is None or explained.id != rule.id, symptom


def test_rules_are_remembered_and_forgotten_when_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "some.yaml"
    text = (FOLDER / "faults.yaml").read_text()
    path.write_text(text)
    monkeypatch.setattr(rulebook, "FOLDER", tmp_path)
    read = rulebook.rules.__wrapped__
    before = read()
    assert before and read() == before
    path.write_text(text.replace("lesson: ", "lesson: other-"))
    assert [rule.lesson for rule in read()] == [f"other-{rule.lesson}" for rule in before]


def test_what_explains_is_what_is_proved():
    """Rules are read in two ways: at once, and with every problem told."""
    read = rules()
    assert [rule.id for rule in read] == list(RULES)
    for rule in read:
        for name in Explanatory.__struct_fields__:
            assert getattr(rule, name) == getattr(RULES[rule.id], name), rule.id
