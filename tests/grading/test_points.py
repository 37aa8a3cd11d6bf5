"""Points for checks, and penalties for lateness."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from tests.cases import for_each
from tutor.check import Check
from tutor.checks.value import Value
from tutor.grading.late import Times, parse_time
from tutor.grading.points import Marks, mark_reports
from tutor.grading.result import Late
from tutor.grading.submission_files import Unusable
from tutor.lesson import Lesson
from tutor.manifest import LatePenalty, Pack
from tutor.report import CheckResult, Fault, Report, Status, verdict_of

ONE, TWO, MORE = (
    Value(value="f(x)", name="one"),
    Value(value="g(x)", name="two", points=2.5, visible=False, after="one"),
    Value(value="h(x)", name="more", points=0.5, bonus=True),
)


def lesson(mini: Pack, *checks: Check, partial: bool = True) -> Lesson:
    return msgspec.structs.replace(mini.lesson("double"), checks=checks, partial=partial)


def report(*statuses: Status, seed: int = 0, fault: Fault | None = None) -> Report:
    results = tuple(
        CheckResult(name, "value", status, "" if status == "pass" else f"{status}ed")
        for name, status in zip(("one", "two", "more"), statuses, strict=False)
    )
    return Report("double", verdict_of(results, fault), results, seed=seed, fault=fault)


@pytest.fixture
def mark(mini: Pack):
    def given(*statuses: Status, partial: bool = True) -> Marks:
        checks = (ONE, TWO, MORE)[: len(statuses)]
        return mark_reports(lesson(mini, *checks, partial=partial), [report(*statuses)])

    return given


@pytest.mark.parametrize(
    ("statuses", "verdict", "score"),
    [
        (["pass", "pass"], "pass", 3.5),
        (["pass", "pass", "pass"], "pass", 4.0),
        (["pass", "pass", "fail"], "pass", 3.5),
        (["pass", "pass", "error"], "pass", 3.5),
        (["pass", "fail", "pass"], "fail", 1.5),
        (["fail", "skipped", "fail"], "fail", 0.0),
        (["pass", "error"], "error", 1.0),
        (["error", "skipped"], "error", None),
        (["pass", "internal"], "internal", None),
        (["pass", "pass", "internal"], "internal", None),
    ],
)
def test_the_score_is_the_sum_of_passed_checks(
    mark, statuses: list[Status], verdict: str, score: float | None
):
    found = mark(*statuses)
    assert (found.verdict, found.score, found.max_score) == (verdict, score, 3.5)
    assert bool(found.fault) == (verdict != "pass")


def test_partial_credit_has_a_reason(mark):
    (note,) = mark("pass", "fail").notes
    assert note == "1 of 3.5 points; not passed: two (fail)"
    (note,) = mark("pass", "error").notes
    assert "the code broke" in note
    assert mark("pass", "pass", "pass").notes == ("bonus: more (0.5)",)
    assert mark("pass", "pass").notes == mark("fail", "skipped").notes == ()


@pytest.mark.parametrize(
    ("statuses", "score"),
    [
        (["pass", "pass", "pass"], 4.0),
        (["pass", "pass", "fail"], 3.5),
        (["pass", "fail", "pass"], 0.0),
        (["pass", "error", "pass"], None),
    ],
)
def test_all_or_nothing_gives_no_partial_credit(mark, statuses: list[Status], score: float | None):
    found = mark(*statuses, partial=False)
    assert found.score == score
    assert sum(check.points for check in found.checks) == (score or 0)
    if score == 0.0:
        assert found.notes == ("all or nothing: 0 points; not passed: two (fail)",)


def test_a_skipped_check_keeps_its_message(mark):
    check = mark("fail", "skipped").checks[1]
    assert (check.status, check.points, check.message) == ("skipped", 0.0, "skippeded")
    assert not check.visible


def test_code_that_cannot_be_imported_has_no_score(mini: Pack):
    fault = Fault("import", "line 1: no\x1b[31m", values=("x 3",))
    broken = report("skipped", "skipped", fault=fault)
    found = mark_reports(lesson(mini, ONE, TWO), [broken])
    assert (found.verdict, found.score, found.fault) == ("error", None, "line 1: no␛[31m")
    assert found.values == ("x 3",)


def test_a_pass_needs_every_run(mini: Pack):
    runs = [report("pass", "pass", seed=1), report("pass", "fail", seed=2), report("pass", "pass")]
    found = mark_reports(lesson(mini, ONE, TWO), runs)
    assert (found.verdict, found.score) == ("fail", 1.0)
    assert found.notes[0] == "passed 2 of 3 runs, by chance; failed with seed 2"


def test_points_are_rounded(mini: Pack):
    tenths = [Value(value="f(x)", name=str(n), points=0.1) for n in range(3)]
    results = tuple(CheckResult(check.title, "value", "pass") for check in tenths)
    assert mark_reports(lesson(mini, *tenths), [Report("double", "pass", results)]).score == 0.3


# --- lateness --------------------------------------------------------------------------------

PENALTY = LatePenalty(percent_per_day=10, grace_hours=1, most_percent=25)


def times(tmp_path: Path, *rows: str, columns: str = "submission,lesson,due,submitted_at") -> Times:
    path = tmp_path / "late.csv"
    path.write_text("\n".join([columns, *rows]) + "\n")
    return Times(path, ["double", "tall"])


DUE = "*,,2026-03-01T12:00:00Z,"


@for_each(
    ("submitted", "penalty"),
    [
        ("2026-03-01T12:00:00Z", None),
        ("2026-03-01T13:00:00+01:00", None),
        ("2026-03-01T13:00:00Z", 0.0),
        ("2026-03-01 13:00:01.5 UTC", 0.4),
        ("2026-03-02T12:00:01", 0.8),
        ("2026-03-09T12:00:00Z", 1.0),
    ],
)
def test_each_started_day_costs_points(tmp_path: Path, submitted: str, penalty: float | None):
    table = times(tmp_path, DUE, f"anna,,,{submitted}")
    late = table.late("anna", "double", "", PENALTY, 3.0, 4.0)
    assert (late.penalty if late is not None else None) == penalty
    assert late is None or "late" in late.reason


def test_the_penalty_is_at_most_the_score(tmp_path: Path):
    table = times(tmp_path, DUE, "anna,,,2026-03-03T12:00:00Z")
    assert table.late("anna", "double", "", PENALTY, 0.5, 4.0) == Late(
        2.0, 0.5, "2.0 days late: 20 % of 4 points deducted"
    )


def test_the_most_specific_row_counts(tmp_path: Path):
    table = times(tmp_path, DUE, "*,tall,2026-03-05T12:00:00Z,", "ben,,2026-03-04T12:00:00Z,",
                  "ben,tall,2026-03-20T12:00:00Z,")  # fmt: skip
    submitted_at = "2026-03-10 12:00:00.343455000 Z"  # as Gradescope writes it

    def days(name: str, lesson: str) -> float | None:
        late = table.late(name, lesson, submitted_at, PENALTY, 1.0, 1.0)
        return round(late.days) if late is not None else None

    assert [days("anna", "double"), days("anna", "tall"), days("ben", "double")] == [9, 5, 6]
    assert days("ben", "tall") is None
    assert table.late("anna", "double", "", PENALTY, 1.0, 1.0) is None  # no submission time
    assert table.names == {"ben"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["anna,,tomorrow,"], "late.csv:2:1: due: 'tomorrow' is not a time"),
        ([DUE, DUE], "late.csv:3:1: a second due for *"),
        (["anna,dubble,,"], "late.csv:2:1: the pack has no lesson 'dubble'; did you mean"),
        ([",double,2026-03-01,"], "late.csv:2:1: a row needs a submission"),
    ],
)
def test_a_wrong_table_of_times_is_reported_with_its_line(
    tmp_path: Path, rows: Sequence[str], message: str
):
    with pytest.raises(Unusable) as error:
        times(tmp_path, *rows)
    assert message in str(error.value)


def test_times_are_read_in_common_formats():
    assert parse_time("2026-03-01 13:21:25.343455000 Z") == parse_time(
        "2026-03-01T14:21:25.343455+01:00"
    )
    assert parse_time("2026-03-01") is not None
    assert parse_time("") is parse_time("1 March") is None
