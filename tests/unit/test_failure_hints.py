"""Hints for failures: which one is offered for a report, and what is wrong with a lesson's."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.cases import for_each
from tests.unit.test_pack import FILES, LESSON, make_pack
from tutor.authoring.lint import lint
from tutor.authoring.pack_test import hint_remarks
from tutor.authoring.trial import Outcome, Trial, attempt
from tutor.authoring.trial_output import offered_line
from tutor.lesson import FailureHint
from tutor.manifest import Pack
from tutor.pack import BadPack, load_pack
from tutor.pack.contents import gather
from tutor.pool.forks import Forks
from tutor.report import CheckResult, Fault, Report

PASSED = CheckResult("one", "value", "pass")
WRONG = CheckResult("two", "value", "fail", "shape (3,), expected (4,)", wants="One per row.")
BROKE = CheckResult(
    "three", "shape", "error", "KeyError: 'a'", fault=Fault("exception", "KeyError: 'a'", "b or c")
)
SKIPPED = CheckResult("four", "value", "skipped", "needs 'two' to pass first")


def hint(fails: str, *says: str) -> FailureHint:
    return FailureHint(fails=fails, says=says or None, hint="Think.")


def number(mini: Pack, report: Report, *hints: FailureHint) -> int:
    return replace(mini.lesson("double"), failure_hints=hints).failure_hint(report)


def failed(*results: CheckResult, fault: Fault | None = None) -> Report:
    return Report("double", "error" if fault else "fail", results, fault=fault)


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ([hint("two")], 1),
        ([hint("value")], 1),
        ([hint("one"), hint("three"), hint("load")], 0),  # neither what passed nor what came later
        ([hint("two", "expected (4,)")], 1),
        ([hint("two", "One per row")], 1),  # the author's `why`, which is shown, too
        ([hint("two", "expected (4,)", "the moon")], 0),
        ([hint("two", "the moon"), hint("two"), hint("value")], 2),
        ([], 0),
    ],
)
def test_the_first_hint_that_fits_the_first_failure_is_offered(
    mini: Pack, hints: list[FailureHint], expected: int
):
    report = failed(PASSED, WRONG, BROKE, SKIPPED)
    assert number(mini, report, *hints) == expected


def test_the_text_of_an_exception_counts(mini: Pack):
    report = failed(PASSED, BROKE)
    assert number(mini, report, hint("three", "KeyError", "b or c")) == 1


def test_code_that_cannot_be_imported_fails_at_load(mini: Pack):
    fault = Fault("exception", "ImportError: no torch", "Did you mean jax?")
    report = failed(SKIPPED, fault=fault)
    assert number(mini, report, hint("value"), hint("load", "no torch", "mean jax")) == 2


@pytest.mark.parametrize("verdict", ["pass", "internal"])
def test_nothing_is_offered_for_what_is_not_wrong(mini: Pack, verdict: str):
    report = replace(failed(WRONG), verdict=verdict)
    assert number(mini, report, hint("value"), hint("load")) == 0
    assert number(mini, Report("double", "fail", ()), hint("value")) == 0


# --- in the file -----------------------------------------------------------------------------


def with_hints(root: Path, hints: str, survives: str = "") -> Path:
    text = f"{LESSON}{survives}failure_hints:\n{hints}"
    return make_pack(root, FILES | {"basics/double.yaml": text})


@for_each(
    ("written", "told"),
    [
        ("{fails: valeu, hint: h}", "36:13: fails: no check named 'valeu'; did you mean 'value'?"),
        (
            "{fails: grad, hint: h}",
            (
                "36:13: fails: no check named 'grad'; "
                "available: load, shape, shape: double(x), value, vmap, vmap: double"
            ),
        ),
        (
            "{fails: survives, hint: h}",
            (
                "36:13: fails: no check named 'survives'; "
                "available: load, shape, shape: double(x), value, vmap, vmap: double"
            ),
        ),
        ("{fails: value}", "36:5: 'hint' is missing: The hint, in Markdown; add a line `hint: …`"),
        (
            "{fails: value, says: [], hint: h}",
            (
                "36:26: says: must be a string of 1 to 300 characters or a non-empty list of "
                "strings, got a list"
            ),
        ),
        (
            "{fials: value, hint: h}",
            (
                "36:5: 'fails' is missing: The check that must be the first to fail: its name, its "
                "kind, or `load` for the import; add a line `fails: …`"
            ),
        ),
    ],
)
def test_what_is_wrong_with_a_hint_is_told_with_its_place(tmp_path: Path, written: str, told: str):
    with pytest.raises(BadPack) as caught:
        load_pack(with_hints(tmp_path, f"  - {written}\n"))
    first = caught.value.problems[0]
    assert str(first) == f"{tmp_path}/basics/double.yaml:{told}"


def test_the_check_of_survives_can_be_named_where_there_is_one(tmp_path: Path):
    root = with_hints(tmp_path, "  - {fails: survives, hint: h}\n", "survives: [jit]\n")
    assert load_pack(root).lesson("double").failure_hints[0].fails == "survives"


def remarks(root: Path) -> list[tuple[int, int, str]]:
    found = lint(root)
    assert not found.problems
    return [(o.line, o.column, o.message) for o in found.remarks if o.code == "unoffered-hint"]


def test_a_hint_that_no_mistake_provokes_is_remarked(tmp_path: Path):
    hints = "  - {fails: value, hint: h}\n  - {fails: load, hint: h}\n  - {fails: shape, hint: h}\n"
    assert remarks(with_hints(tmp_path, hints)) == [
        (37, 13, "no mistake fails at 'load', so nothing shows that this is offered"),
        (38, 13, "no mistake fails at 'shape', so nothing shows that this is offered"),
    ]


def test_a_mistake_for_other_releases_provokes_it_too(tmp_path: Path):
    root = with_hints(tmp_path, "  - {fails: value, hint: h}\n")
    file = root / "basics" / "double.yaml"
    file.write_text(file.read_text().replace("fails: value\n", 'fails: value\n    jax: "<0.1"\n'))
    assert not load_pack(root).lesson("double").mistakes
    assert remarks(root) == []


def test_a_hint_behind_one_that_always_fits_is_remarked(tmp_path: Path):
    hints = (
        "  - {fails: value, says: [largest, more], hint: h}\n"
        "  - {fails: value, says: largest, hint: h}\n"
        "  - {fails: value, says: largest difference, hint: h}\n"
    )
    assert remarks(with_hints(tmp_path, hints)) == [
        (38, 13, "failure hint 2 fits whenever this one does, and comes first"),
    ]


def test_learners_get_the_hints_but_not_the_mistakes(tmp_path: Path):
    root = with_hints(tmp_path / "pack", "  - {fails: value, says: largest, hint: h}\n")
    pack = load_pack(root)
    make_pack(
        tmp_path / "built",
        {name: data.decode() for name, data in gather(pack, "learners")[1].items()},
    )
    lesson = load_pack(tmp_path / "built").lesson("double")
    assert not lesson.mistakes
    assert lesson.failure_hints == pack.lesson("double").failure_hints


# --- pack test -------------------------------------------------------------------------------


def test_pack_test_tells_which_hint_a_mistake_is_offered(mini: Pack, forks: Forks):
    double = mini.lesson("double")
    hints = (hint("value", "the moon"), hint("value", "largest difference"), hint("load"))
    lesson = replace(double, failure_hints=hints)
    (mistake,) = lesson.mistakes
    code = mistake.applied_to(mini.solution("double") or "")
    outcome = attempt(Trial(lesson, "mistake", mistake.name, code, (0, 1), mistake), forks)
    assert outcome.holds and outcome.offered == (2,)
    assert offered_line(outcome) == "mistake 'thrice': failure hint 2"
    assert [remark.partition(";")[0] for remark in hint_remarks(lesson, [outcome])] == [
        "failure hint 1 (fails: value) is offered for no mistake",
        "failure hint 3 (fails: load) is offered for no mistake",
    ]
    without = attempt(Trial(double, "mistake", mistake.name, code, (0,), mistake), forks)
    assert without.offered == () and not list(hint_remarks(double, [without]))


def test_what_could_not_be_tried_is_not_remarked(mini: Pack):
    lesson = replace(mini.lesson("double"), failure_hints=(hint("load"),))
    assert not list(hint_remarks(lesson, [Outcome("double", "mistake", "x", "busy", ours=True)]))


def test_a_mistake_may_be_offered_different_hints():
    outcome = Outcome("double", "mistake", "x", offered=(0, 2))
    assert offered_line(outcome) == "mistake 'x': no failure hint or failure hint 2"
