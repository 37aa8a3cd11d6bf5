"""Reports are plain data: they survive JSON both ways, and the verdict follows from the results."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.report import (
    INTERNAL,
    Accuracy,
    Branch,
    CheckResult,
    Entry,
    ErrorMap,
    ErrorSlice,
    Fault,
    Frame,
    Mismatch,
    Protection,
    Race,
    Report,
    Side,
    Timing,
    Timings,
    Verdict,
    verdict_of,
)
from tutor.sandbox.faults import SENTENCES

TEXT = st.text(max_size=12)
SECONDS = st.floats(0, 1e6)
NUMBER = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
INDEX = st.lists(st.integers(0, 2**40), max_size=3).map(tuple)
MAYBE_INDEX = st.one_of(st.none(), INDEX)
STATUS = st.sampled_from(["pass", "fail", "error", "skipped", "internal"])
VERDICT = st.sampled_from(["pass", "fail", "error", "internal"])
KINDS = st.sampled_from(["structure", "type", "shape", "dtype", "value", "nan"])


def several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


SIDES = st.builds(Side, TEXT, MAYBE_INDEX, TEXT)
MISMATCHES = st.builds(
    Mismatch, KINDS, TEXT, SIDES, SIDES, NUMBER, NUMBER, MAYBE_INDEX, MAYBE_INDEX,
    st.integers(0, 99), st.integers(0, 99), several(st.builds(Entry, INDEX, TEXT, TEXT, TEXT)),
    TEXT,
    st.none() | st.builds(
        ErrorMap, st.tuples(st.integers(1, 99), st.integers(1, 99)),
        several(st.builds(ErrorSlice, INDEX, several(TEXT))),
    ),
    several(st.builds(Branch, st.integers(0, 9), TEXT, st.booleans(), TEXT)),
)  # fmt: skip
SHARE = st.floats(0, 1)
ACCURACY = st.none() | st.builds(Accuracy, SHARE, st.none() | SHARE)
LINE = st.one_of(st.none(), st.integers(1, 10**6))
FAULTS = st.builds(
    Fault, st.sampled_from(sorted(SENTENCES)), TEXT, TEXT,
    several(st.builds(Frame, st.integers(0, 9999), TEXT, TEXT)), LINE, LINE, TEXT,
)  # fmt: skip
TIMING = st.builds(Timing, SECONDS, SECONDS, st.one_of(st.none(), SECONDS))
RESULTS = st.builds(
    CheckResult, TEXT, TEXT, STATUS, TEXT, st.one_of(st.none(), MISMATCHES),
    st.one_of(st.none(), FAULTS), TEXT, several(TEXT), TIMING, accuracy=ACCURACY,
)  # fmt: skip
RACES = st.builds(Race, TEXT, SECONDS, SECONDS, st.one_of(st.none(), SECONDS))
TIMINGS = st.builds(Timings, *[SECONDS] * 5, st.one_of(st.none(), RACES))
REPORTS = st.builds(
    Report, TEXT, VERDICT, several(RESULTS), TEXT, TEXT, st.one_of(st.none(), FAULTS), TIMINGS,
    st.dictionaries(TEXT, TEXT, max_size=3), st.integers(0, 2**80), TEXT,
    several(st.builds(Protection, TEXT, st.booleans(), TEXT)),
)  # fmt: skip


@given(REPORTS)
def test_a_report_survives_json_both_ways(report: Report) -> None:
    data = report.to_json()
    assert Report.from_json(data) == report
    assert Report.from_json(data.decode()) == report
    assert Report.from_json(data).to_json() == data


def no_such_token(token: str) -> Any:
    raise AssertionError(f"{token} is not JSON")


@given(REPORTS)
def test_a_report_is_standard_json(report: Report) -> None:
    read = json.loads(report.to_json(), parse_constant=no_such_token)
    assert read["lesson"] == report.lesson
    assert [check["status"] for check in read["checks"]] == [c.status for c in report.checks]


def test_numbers_that_json_cannot_hold_are_omitted() -> None:
    mismatch = Mismatch("value", "", Side("x"), Side("y"), math.nan, math.inf)
    report = Report("a", "fail", (CheckResult("c", "value", "fail", mismatch=mismatch),))
    json.loads(report.to_json(), parse_constant=no_such_token)
    read = Report.from_json(report.to_json()).checks[0].mismatch
    assert read is not None
    assert (read.max_error, read.tolerance) == (None, None)


@for_each(
    "text",
    [
        "", "{}", "[]", "null", "{", '{"lesson": "a"}', '{"lesson": "a", "verdict": "pass"}',
        '{"lesson": "a", "verdict": "perhaps", "checks": []}',
        '{"lesson": 1, "verdict": "pass", "checks": []}',
        '{"lesson": "a", "verdict": "pass", "checks": [{"name": "x"}]}',
        '{"lesson": "a", "verdict": "pass", "checks": [], "seed": NaN}',
    ],
)  # fmt: skip
def test_json_that_is_not_a_report_is_rejected(text: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        Report.from_json(text)


def test_a_report_from_a_later_version_with_more_fields_is_read() -> None:
    text = '{"lesson": "a", "verdict": "pass", "checks": [], "mood": "good"}'
    assert Report.from_json(text) == Report("a", "pass", ())


# --- the verdict ---------------------------------------------------------------------------


@for_each(
    ("statuses", "fault", "verdict"),
    [
        ("", None, "fail"),  # nothing was checked
        ("pass", None, "pass"),
        ("pass pass", None, "pass"),
        ("pass fail", None, "fail"),
        ("skipped", None, "fail"),
        ("pass skipped", None, "fail"),
        ("pass error", None, "error"),
        ("fail error skipped", None, "error"),
        ("pass internal", None, "internal"),
        ("error internal fail", None, "internal"),
        ("pass pass", "timeout", "error"),
        ("", "syntax-error", "error"),
        ("skipped", "import-error", "error"),
        ("fail", "killed", "error"),
        ("pass", "internal", "internal"),
        ("pass", "no-sandbox", "internal"),
        ("fail error", "broken-pack", "internal"),
        ("internal", "timeout", "internal"),
    ],
)
def test_the_verdict_follows_from_the_results(
    statuses: str, fault: str | None, verdict: Verdict
) -> None:
    checks = tuple(
        CheckResult(str(number), "value", status)  # type: ignore[arg-type]
        for number, status in enumerate(statuses.split())
    )
    for order in (checks, checks[::-1]):
        assert verdict_of(order, Fault(fault, "why") if fault else None) == verdict


@given(several(RESULTS), st.one_of(st.none(), FAULTS))
def test_a_pass_needs_only_passes_and_at_least_one(
    checks: tuple[CheckResult, ...], fault: Fault | None
) -> None:
    all_passed = bool(checks) and all(check.status == "pass" for check in checks)
    assert (verdict_of(checks, fault) == "pass") == (all_passed and fault is None)


def test_only_jaxtutors_own_faults_are_internal() -> None:
    assert set(SENTENCES) >= INTERNAL
    for code in SENTENCES:
        assert (verdict_of((), Fault(code, "")) == "internal") == (code in INTERNAL)


def test_a_report_has_passed_if_its_verdict_is_pass() -> None:
    assert Report("a", "pass", ()).passed
    for verdict in ("fail", "error", "internal"):
        assert not Report("a", verdict, ()).passed  # type: ignore[arg-type]
