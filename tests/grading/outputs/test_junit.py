"""JUnit XML is valid for any text, and separates failures from errors."""

from collections.abc import Callable, Sequence
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies
from lxml import etree

from tests.grading.outputs.conftest import BATCH, FakeCodeReader
from tests.grading.outputs.made import HOSTILE, hostile_result
from tutor.grading import outputs
from tutor.grading.result import CheckScore, Result

SCHEMA = etree.XMLSchema(file=str(Path(__file__).with_name("junit.xsd")))
Write = Callable[..., Path]


def suites(folder: Path) -> list[etree._Element]:
    tree = etree.parse(str(folder / "junit.xml"))
    SCHEMA.assertValid(tree)
    return tree.findall("testsuite")


def test_real_results_are_valid_and_counted(write: Write, real: Sequence[Result]):
    found = suites(write(real, ["junit.xml"]))
    assert [(suite.get("name"), suite.get("package")) for suite in found] == [
        (result.submission, f"mini.{result.lesson}") for result in real
    ]
    counts = [tuple(int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped"))
              for suite in found]  # fmt: skip
    assert counts == [
        (2, 0, 0, 0),  # right
        (1, 0, 0, 0),
        (2, 2, 0, 0),  # wrong
        (1, 0, 1, 0),  # raises
        (3, 0, 1, 2),  # no Python: no check was run, and one more case says why
        (1, 1, 0, 0),
        (1, 0, 1, 0),  # nothing could be run
        (1, 0, 1, 0),
    ]
    for suite in found:
        assert len(suite.findall("testcase")) == int(suite.get("tests"))


def test_a_wrong_answer_is_a_failure_and_an_exception_an_error(
    write: Write, real: Sequence[Result]
):
    _, _, wrong, raises, *_ = suites(write(real, ["junit.xml"]))
    assert "largest difference" in wrong.find("testcase/failure").get("message")
    error = raises.find("testcase/error")
    assert "<script>alert(1)</script>" in error.get("message")
    assert error.get("type") == "error"


def test_an_override_is_a_property(write: Write, real: Sequence[Result]):
    suite = suites(write(real, ["junit.xml"]))[5]
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties["override"] == properties["score"] == "1"
    assert "Prof. X" in properties["note"]


def test_the_timestamp_is_in_utc(write: Write, real: Sequence[Result]):
    assert {suite.get("timestamp") for suite in suites(write(real, ["junit.xml"]))} == {
        "2026-03-04T03:06:07"
    }


def test_a_failure_outside_of_checks_has_a_case(write: Write):
    lucky = Result(
        "a", "double", "fail", 0.0, 1.0, notes=("passes 2 of 3",),
        checks=(CheckScore("value", "value", "pass", 1.0, 1.0),),
    )  # fmt: skip
    (suite,) = suites(write([lucky], ["junit.xml"]))
    assert suite.find("testcase/failure").get("message") == "passes 2 of 3"


def test_an_empty_batch_is_valid(write: Write):
    assert suites(write([], ["junit.xml"])) == []


def test_hostile_names_and_messages_stay_text(write: Write, hostile: Sequence[Result]):
    found = suites(write(hostile, ["junit.xml"]))
    assert len(found) == len(HOSTILE)
    assert {element.tag for suite in found for element in suite.iter()} == {
        "testsuite", "properties", "property", "testcase", "failure", "error", "skipped",
        "system-out", "system-err",
    }  # fmt: skip
    assert found[0].get("name") == "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("junit")


@hypothesis.given(strategies.text())
@hypothesis.settings(deadline=None)
def test_any_text_keeps_it_valid(shared: Path, text: str):
    outputs.write(BATCH, [hostile_result(text)], shared, ["junit.xml"], FakeCodeReader())
    (suite,) = suites(shared)
    assert len(suite.findall("testcase")) == 5
