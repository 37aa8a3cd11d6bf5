"""Every rule explains its own examples with the installed libraries, and no other rule does."""

from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from tests.course.sample import sample_of
from tests.explain.conftest import Kept, Provoke
from tests.explain.provoked import problem
from tests.explain.rule_files import Proved, read_proved
from tutor.explain import Symptom, explain, rulebook
from tutor.explain.rule import Possibility, Rule, When, several
from tutor.explain.rulebook import FOLDER, Match, explanation, matches, rules
from tutor.explain.traceback import explain_text
from tutor.lesson import Lesson, Limits

RULES = read_proved(FOLDER)


def each(sources: Callable[[Proved], tuple[str, ...]], *, trial: bool) -> list[ParameterSet]:
    return [
        pytest.param(rule, source, id=f"{rule.id}-{number}" if number else rule.id)
        for rule in RULES.values()
        if (rule.trial is not None) == trial
        for number, source in enumerate(sources(rule))
    ]


RAISED = each(lambda rule: rule.provoke, trial=False)
OTHERS = each(lambda rule: rule.not_, trial=False)
RECORDED = each(lambda rule: rule.recorded, trial=False)
TRIED = each(lambda rule: rule.provoke, trial=True)
NEARLY = each(lambda rule: rule.not_, trial=True)
RUNS = 8
"""An ordinary run provokes an eighth of what is explained, another one with each commit; `make
proofs` and `make explained` provoke all."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    found = SAMPLED.get(metafunc.function)
    if found is not None:
        if not metafunc.config.getoption("proofs"):
            found = sample_of(metafunc.config).of(found, lambda one: str(one.id), runs=RUNS)
        metafunc.parametrize(("rule", "source"), found)


def test_a_provoked_error_is_explained_by_its_rule_alone(
    rule: Proved, source: str, provoke: Provoke
):
    assert not problem(rule, provoke(source, rule.devices))


def test_a_similar_error_is_not_explained_by_the_rule(rule: Proved, source: str, provoke: Provoke):
    symptom = provoke(source, rule.devices)
    found = matches(symptom) if symptom is not None else []
    assert rule.id not in [match.rule.id for match in found[:1]]


def tried(rule: Proved, source: str, kept: Kept) -> list[Symptom | None]:
    """Return the symptoms of a submission in the checks of a rule's trial."""
    assert rule.trial is not None
    lesson = Lesson(
        id=rule.id, title=rule.id, track="trials", minutes=1, brief="-", starter=source,
        torch=rule.trial.torch, hints=("-",), sizes=rule.trial.sizes, inputs=rule.trial.inputs,
        checks=rule.trial.checks, devices=rule.devices,
        limits=Limits(seconds=3 if "timeout" in several(rule.when.fault) else 60),
    )  # fmt: skip
    return kept.symptoms(lesson, source)


def test_a_wrong_answer_is_explained_by_its_rule(rule: Proved, source: str, kept: Kept):
    wrong = next((symptom for symptom in tried(rule, source, kept) if symptom is not None), None)
    assert wrong is not None, "every check passes"
    explained = explain(wrong)
    assert explained is not None and explained.id == rule.id, f"{explained}: {wrong}"


def test_a_similar_wrong_answer_is_not_explained_by_the_rule(rule: Proved, source: str, kept: Kept):
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
    assert list(rules()) == [one.rule for one in RULES.values()]


@pytest.mark.parametrize(("rule", "text"), RECORDED)
def test_a_recorded_error_is_explained_by_its_rule_alone(rule: Proved, text: str):
    source, _, pasted = text.partition("\n")
    assert source.startswith("# ")
    symptom, explanation = explain_text(pasted)
    assert symptom is not None
    assert explanation is not None and explanation.id == rule.id, f"{explanation}: {symptom}"
    found = matches(symptom)
    assert [match.weight for match in found].count(found[0].weight) == 1


ONE_OF = Rule(
    id="one-of",
    when=When(message="no"),
    what="The first.",
    why="-",
    instead="first()",
    or_=(
        Possibility(what="The second.", instead="second()"),
        Possibility(what="The third.", instead="third()", when=When(line="scan(")),
        Possibility(
            what="The fourth.", instead="fourth()", when=When(source="vmap(", lacks="pmap(")
        ),
    ),
    example="",
    lesson="some",
)


@pytest.mark.parametrize(
    ("line", "source", "order"),
    [
        ("f(x)", "", "1 2 3 4"),
        ("scan(f, x)", "", "3 1 2 4"),
        ("f(x)", "vmap(f)(x)", "4 1 2 3"),
        ("scan(f, x)", "vmap(f)(x)", "3 4 1 2"),
        ("f(x)", "vmap(f)(x)\npmap(f)(x)", "1 2 3 4"),
        ("scan(f, x)", "third()", "1 2 4"),
        ("f(x)", "second()", "1 3 4"),
    ],
)
def test_possibilities_of_which_the_code_has_signs_come_first(line: str, source: str, order: str):
    symptom = Symptom(exception="ValueError", message="no", line=line, source=source)
    found = explanation(Match(ONE_OF, {}, (0, 1, 1)), symptom)
    numbers = {"The first.": 1, "The second.": 2, "The third.": 3, "The fourth.": 4}
    texts = (found.what, *(one.what for one in found.alternatives))
    assert " ".join(str(numbers[text]) for text in texts) == order
    codes = (found.instead, *(one.instead for one in found.alternatives))
    assert [text.removeprefix("The ").rstrip(".") + "()" for text in texts] == [*codes]


def test_a_rule_whose_advice_is_in_the_code_holds_only_with_signs_of_another_possibility(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(rulebook, "rules", lambda: (ONE_OF,))

    def first(line: str) -> str | None:
        symptom = Symptom(exception="ValueError", message="no", line=line, source="first()")
        found = explain(symptom)
        return found.what if found is not None else None

    assert first("f(x)") is None
    assert first("scan(f, x)") == "The third."


SAMPLED = {
    test_a_provoked_error_is_explained_by_its_rule_alone: RAISED,
    test_a_similar_error_is_not_explained_by_the_rule: OTHERS,
    test_a_wrong_answer_is_explained_by_its_rule: TRIED,
    test_a_similar_wrong_answer_is_not_explained_by_the_rule: NEARLY,
}
