"""Results for Gradescope are valid."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import jsonschema
import pytest
from hypothesis import strategies

from tests.cases import for_each
from tests.grading.outputs.conftest import BATCH, FakeCodeReader
from tests.grading.outputs.made import NASTY, hostile_result
from tutor.grading import outputs
from tutor.grading.result import CheckScore, Result

Write = Callable[..., Path]
SCHEMA = json.loads(Path(__file__).with_name("gradescope.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def valid(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    VALIDATOR.validate(data)
    return data


def test_each_submission_has_valid_results(write: Write, real: Sequence[Result]):
    folder = write(real, ["gradescope"]) / "gradescope"
    found = {path.name: valid(path / "results.json") for path in folder.iterdir()}
    assert set(found) == {"Ada Lovelace", "Bob", "Çağla Ünal", "Dan"}
    ada = found["Ada Lovelace"]
    assert ada["score"] == 3 and ada["output"] == ""
    assert [
        (test["name"], test["score"], test["max_score"], test["status"]) for test in ada["tests"]
    ] == [
        ("double: value", 1, 1, "passed"),
        ("double: again", 1, 1, "passed"),
        ("tall: value: tall(x)", 1, 1, "passed"),
    ]
    wrong = found["Bob"]["tests"][0]
    assert wrong["status"] == "failed" and "largest difference" in wrong["output"]
    assert found["Bob"]["output"] == "tall: 2.5 days late"


def test_missing_scores_are_mentioned_first(write: Write, real: Sequence[Result]):
    folder = write(real, ["gradescope"]) / "gradescope"
    dan = valid(folder / "Dan" / "results.json")
    assert dan["output"].splitlines()[0] == (
        "double: not graded yet and not in this score; a grader will review it."
    )
    assert dan["extra_data"]["ungraded"] == ["double", "tall"]
    cagla = valid(folder / "Çağla Ünal" / "results.json")
    assert cagla["extra_data"]["overrides"] == {"tall": 1}
    assert "a grader set the score to 1" in cagla["output"]


def test_a_bonus_comes_on_top(write: Write):
    checks = (
        CheckScore("plain", "value", "pass", 2.0, 2.0),
        CheckScore("more", "value", "pass", 1.0, 1.0, bonus=True),
    )
    result = Result("a", "double", "pass", 3.0, 2.0, checks)
    data = valid(write([result], ["gradescope"]) / "gradescope/a/results.json")
    assert data["score"] == 3
    assert sum(test["max_score"] for test in data["tests"]) == data["extra_data"]["max_score"] == 2


def test_what_the_names_in_the_line_stood_for_is_shown(write: Write):
    check = CheckScore("plain", "value", "error", 0.0, 2.0, message="TypeError", values=("x 3",))
    result = Result("a", "double", "error", 0.0, 2.0, (check,))
    at_import = Result("b", "double", "error", 0.0, 2.0, fault="NameError", values=("y 4",))
    folder = write([result, at_import], ["gradescope"]) / "gradescope"
    assert valid(folder / "a/results.json")["tests"][0]["output"] == "TypeError\nwhere x 3"
    data = valid(folder / "b/results.json")
    assert data["tests"][0]["output"] == "NameError\nwhere y 4"
    assert "double: NameError\nwhere y 4" in data["output"]


def test_hostile_submissions_have_results_too(write: Write, hostile: Sequence[Result]):
    found = list((write(hostile, ["gradescope"]) / "gradescope").iterdir())
    assert len(found) == len(NASTY)
    for path in found:
        assert len(valid(path / "results.json")["tests"]) == 5


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gradescope")


@hypothesis.given(strategies.text())
@hypothesis.settings(deadline=None, max_examples=40)
def test_any_text_keeps_results_valid(shared: Path, text: str):
    outputs.write(BATCH, [hostile_result(text)], shared, ["gradescope"], FakeCodeReader())
    for path in (shared / "gradescope").iterdir():
        valid(path / "results.json")


@for_each(
    "wrong",
    [
        {},
        {"tests": []},
        {"tests": [{"max_score": 1}]},
        {"score": "3"},
        {"score": 1, "visibility": "public"},
        {"score": 1, "max_score": 2},
        {"score": 1, "tests": [{"status": "pass"}]},
    ],
    ids=str,
)
def test_the_validator_refuses_unknown_fields(wrong: dict[str, Any]):
    assert not VALIDATOR.is_valid(wrong)
