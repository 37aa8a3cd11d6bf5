"""In which order a run tries the cases of its checks and gives their results."""

from typing import Any

import pytest

from tests.engine.conftest import RIGHT, Written
from tutor.engine.session import Session, run
from tutor.lesson import Lesson
from tutor.report import CheckResult

pytestmark = pytest.mark.usefixtures("forked")

SIZES: dict[str, Any] = {"sizes": {"n": [3, 1, 2]}, "inputs": {"x": "normal(n)"}}
FIRST = {"name": "first", "value": "double(x)"}
SECOND = {"name": "second", "value": "2 * double(x)"}
THIRD = {"name": "third", "value": "3 * double(x)", "cases": 1}

WRONG_FOR_ONE = """
from jax import numpy as jnp

calls = []

def double(x):
    calls.append(x)
    if x.shape == (1,):
        return 3 * x
    return 2 * x if len(calls) == 1 else jnp.zeros_like(x)
"""
"""Right in the first case of the first check only."""

ENDS = f"""
import os

{RIGHT}

def halve(x):
    os._exit(3)
"""
BOTH: dict[str, Any] = {
    "torch": f"import torch\n\n{RIGHT}\n\ndef halve(x):\n    return x / 2\n",
    "starter": "def double(x): ...\n\ndef halve(x): ...\n",
    "checks": [FIRST, {"name": "second", "value": "halve(x)"}, THIRD],
}


@pytest.fixture
def lesson(written: Written) -> Lesson:
    return written(**SIZES, checks=[FIRST, SECOND, THIRD])


def test_first_cases_come_first_and_the_report_keeps_the_order_of_the_checks(lesson: Lesson):
    told: list[CheckResult] = []
    report = run(lesson, WRONG_FOR_ONE, on_result=told.append)
    assert [result.name for result in told] == ["second", "third", "first"]
    assert [result.name for result in report.checks] == ["first", "second", "third"]
    assert [result.status for result in report.checks] == ["fail"] * 3


def test_passes_are_told_in_the_order_of_the_checks(lesson: Lesson):
    told: list[str] = []
    run(lesson, RIGHT, on_result=lambda result: told.append(result.name))
    assert told == ["first", "second", "third"]


def test_the_first_check_that_fails_is_the_same_if_others_are_not_run(lesson: Lesson):
    """The second check fails before the first, whose other cases are tried all the same."""
    with Session(lesson, WRONG_FOR_ONE) as session:
        report = session.check(all_checks=False)
    assert [result.status for result in report.checks] == ["fail", "fail", "skipped"]


def test_what_passed_before_the_check_that_it_needs_failed_is_skipped(written: Written):
    right_first = WRONG_FOR_ONE.replace("len(calls) == 1", "True")
    third = {**THIRD, "after": "first"}
    report = run(written(**SIZES, checks=[FIRST, third]), right_first)
    assert [result.status for result in report.checks] == ["fail", "skipped"]
    assert report.checks[1].message == "needs 'first' to pass first"


def test_if_a_sandbox_ends_the_checks_before_are_tried_to_the_end_in_another(written: Written):
    first, second, third = run(written(**SIZES, **BOTH), ENDS).checks
    assert (first.status, second.status, third.status) == ("pass", "error", "skipped")
    assert third.message.startswith("not run: ")


def test_a_second_end_is_the_last(written: Written):
    """A check that passed only some of its cases is not a pass."""
    one_more = {**FIRST, "name": "one more"}
    lesson = written(**SIZES, **BOTH | {"checks": [FIRST, one_more, *BOTH["checks"][1:]]})
    twice = ENDS.replace("return 2 * x", "return 2 * x if x.shape != (1,) else os._exit(3)")
    report = run(lesson, twice)
    assert [one.status for one in report.checks] == ["error", "skipped", "error", "skipped"]
    assert report.checks[1].message.startswith("not run: ")
