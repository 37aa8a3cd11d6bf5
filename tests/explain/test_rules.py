"""The rulebook: every rule explains its own example with the installed libraries, alone, and the
whole stays small enough to be read."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest
import yaml

from tests.conftest import course
from tests.explain.conftest import Kept
from tests.explain.provoked import FILES, problems, rules_of
from tutor.explain import Symptom, explain, rulebook
from tutor.explain.rule import Possibility, Rule, Rules, When
from tutor.explain.rulebook import FOLDER, Match, explanation, rules
from tutor.foreign.source_lines import source_lines

MAX_RULES, MAX_LINES, MAX_LINES_OF_ANSWERS = 400, 8_000, 800
"""Rules of the whole rulebook, and lines of those about errors and about wrong answers. A rule
enters with an error that a learner of the course met, and only if JAX's own message does not
already say it; another one leaves for it."""

MAX_WIDTH = 130
"""Columns of a line, but for messages that are matched."""

OF_ANSWERS = ("findings", "wrong-answers")


@pytest.mark.parametrize("file", FILES)
def test_every_rule_explains_its_example_alone(file: str, kept: Kept):
    found = [f"{rule.id}: {one}" for rule in rules_of(file) for one in problems(rule, kept)]
    assert not found, "\n".join(found)


def test_the_rulebook_can_be_read_by_one_person():
    counts = Counter(rule.id for rule in rules())
    assert max(counts.values()) == 1, counts.most_common(3)
    assert len(counts) <= MAX_RULES
    lines = {
        path.stem: source_lines(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.yaml")
    }
    assert sum(len(lines[name]) for name in OF_ANSWERS) <= MAX_LINES_OF_ANSWERS
    assert sum(map(len, lines.values())) <= MAX_LINES + MAX_LINES_OF_ANSWERS
    longest = max((line for file in lines.values() for line in file), key=len)
    assert len(longest) <= MAX_WIDTH or longest.lstrip().startswith(("- ", "message:")), longest


def test_every_rule_names_a_lesson_of_the_course():
    lessons = set(course().lessons)
    assert not [rule.id for rule in rules() if rule.instead and rule.lesson not in lessons]


def test_every_rule_says_why_and_what_to_write_instead_or_states_what_numbers_show():
    for rule in rules():
        advice = (rule.why, rule.instead, rule.lesson)
        assert all(advice) or (rule.when.cause and not any(advice) and not rule.or_), rule.id


def test_a_rule_that_is_wrong_in_form_is_refused():
    (rule, *_) = yaml.safe_load((FOLDER / f"{FILES[0]}.yaml").read_bytes())["rules"]
    for change, problem in (
        ({"why": ""}, r"length >= 1 - at `\$.rules\[0\].why`"),
        ({"link": "http://x"}, r"at `\$.rules\[0\].link`"),
        ({"whose": "x"}, r"unknown field `whose`"),
        ({"or": [{"what": "x", "instead": "x"}] * 3}, r"length <= 2 - at `\$.rules\[0\].or`"),
    ):
        with pytest.raises(msgspec.ValidationError, match=problem):
            msgspec.convert({"about": "-", "rules": [{**rule, **change}]}, Rules)


def test_rules_are_cached_until_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "some.yaml"
    text = (FOLDER / f"{FILES[0]}.yaml").read_text()
    path.write_text(text)
    monkeypatch.setattr(rulebook, "FOLDER", tmp_path)
    read = rulebook.rules.__wrapped__
    before = read()
    assert before and read() == before
    path.write_text(text.replace("lesson: ", "lesson: other-"))
    assert [rule.lesson for rule in read()] == [f"other-{rule.lesson}" for rule in before]


ONE_OF = Rule(
    id="one-of",
    when=When(message="no"),
    what="The first.",
    why="-",
    instead="first()",
    or_=(
        Possibility(what="The second.", instead="second()"),
        Possibility(what="The third.", instead="third()", when=When(line="scan(")),
    ),
    example="",
    lesson="some",
)


@pytest.mark.parametrize(
    ("line", "source", "texts"),
    [
        ("f(x)", "", "first second"),
        ("scan(f, x)", "", "third first second"),
        ("scan(f, x)", "third()", "first second"),
        ("f(x)", "second()", "first"),
    ],
)
def test_a_possibility_with_signs_comes_first_and_only_where_they_are(
    line: str, source: str, texts: str
):
    symptom = Symptom(exception="ValueError", message="no", line=line, source=source)
    found = explanation(Match(ONE_OF, {}, (0, 1, 1)), symptom)
    shown = [found.what, *(one.what for one in found.alternatives)]
    assert shown == [f"The {text}." for text in texts.split()]
    codes = [found.instead, *(one.instead for one in found.alternatives)]
    assert codes == [f"{text}()" for text in texts.split()]


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
