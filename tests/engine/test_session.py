"""What a run does with checks that depend on others, with PyTorch's NaN, and with hostile text."""

import pytest

from tests.engine.conftest import RIGHT, Written
from tutor.engine import references
from tutor.engine.judge import judge
from tutor.engine.plan import plan
from tutor.engine.session import run
from tutor.engine.submission import Observation
from tutor.explain import Symptom
from tutor.lesson import Lesson
from tutor.sandbox.protocol import Answer
from tutor.tree import Tree

pytestmark = pytest.mark.usefixtures("forked")

WRONG = "def double(x):\n    return 3 * x\n"
FIRST = {"name": "first", "value": "double(x)"}
SECOND = {"name": "second", "value": "x", "after": "first"}


def test_a_check_is_skipped_if_the_one_before_it_did_not_pass(written: Written):
    lesson = written(checks=[FIRST, SECOND])
    first, second = run(lesson, WRONG).checks
    assert (first.status, second.status) == ("fail", "skipped")
    assert second.message == "needs 'first' to pass first"
    assert [check.status for check in run(lesson, RIGHT).checks] == ["pass", "pass"]


def test_a_gradient_with_respect_to_a_python_float_is_pytorchs(written: Written):
    """PyTorch differentiates with respect to tensors only."""
    double = "def double(x, rate):\n    return (rate * x).sum() * rate\n"
    lesson = written(
        torch=f"import torch\n\n{double}",
        starter="def double(x, rate): ...",
        inputs={"x": "normal(3)", "rate": "float(0.1, 0.9)"},
        checks=[{"grad": "double", "at": ["x", "rate"], "argnums": [0, 1]}],
    )
    assert run(lesson, double).passed
    (check,) = run(lesson, double.replace(" * rate\n", "\n")).checks
    assert check.status == "fail"


def test_nan_of_pytorch_is_the_packs_fault_unless_the_check_says_that_it_is_meant(
    written: Written,
):
    nan = "import torch\n\ndef double(x):\n    return x / 0 * 0\n"
    code = "import jax.numpy as jnp\n\ndef double(x):\n    return jnp.full(x.shape, jnp.nan)\n"
    (check,) = run(written(torch=nan), code).checks
    assert check.status == "internal"
    assert check.fault is not None and check.fault.code == "broken-pack"
    assert "write `nan: true` in the check" in check.message
    meant = written(torch=nan, checks=[{"value": "double(x)", "nan": True}])
    assert run(meant, code).passed


def test_a_finding_that_quotes_the_sandbox_has_no_control_characters(written: Written):
    """Code that runs in the sandbox can put any text into its evidence."""
    lesson = written(checks=[{"pure": "double(x)"}])
    ((check, (case,)),) = plan(lesson, 0)
    observed: Tree = {
        "first": 1, "again": 1, "inputs before": 1, "inputs after": 1,
        "written": [], "promises": ["\x1b[31mred"], "changed": [],
    }  # fmt: skip
    observation = Observation(check, case, Answer("pure#0", 0.0, 0.0), observed)
    result = judge(lesson, RIGHT, observation, None).result
    assert result.status == "fail"
    assert "␛[31mred" in result.message


def test_an_explanation_that_fails_is_logged_and_leaves_the_verdict(
    written: Written, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def broken(symptom: Symptom) -> None:
        raise RuntimeError(symptom.check)

    monkeypatch.setattr("tutor.engine.judge.explain", broken)
    lesson = written()
    raises = "def double(x):\n    return x.unknown\n"
    for code, status, what in ((WRONG, "fail", "a wrong answer"), (raises, "error", "a fault")):
        caplog.clear()
        (check,) = run(lesson, code).checks
        assert check.status == status
        assert check.explained is None
        (record,) = (one for one in caplog.records if one.levelname == "ERROR")
        assert record.getMessage() == f"explaining {what} failed"
        assert record.exc_info is not None and record.exc_info[0] is RuntimeError


def test_without_pytorch_its_absence_is_reported_and_is_not_the_learners_fault(
    written: Written, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(references, "torch_installed", lambda: False)
    # Another lesson than in the other tests, whose answers are cached.
    report = run(written(checks=[{"value": "double(x) + 17"}]), RIGHT)
    assert report.verdict == "internal"
    (check,) = report.checks
    assert check.fault is not None and check.fault.code == "no-torch"
    assert "without PyTorch" in check.message


def test_sizes_are_integers_in_expressions_of_both_sides(written: Written):
    def lesson(expect: str) -> Lesson:
        value = "double(x)[: n - 1].reshape(n - 1, 4) * n + len('ab' * n)"
        return written(
            sizes={"n": [3, 5]},
            inputs={"x": "normal(n, 4)"},
            checks=[{"value": value, "expect": expect or value}],
        )

    assert run(lesson(""), RIGHT).verdict == "pass"
    assert run(lesson("double(x)[: n - 1] * n + len('ab' * n) + n"), RIGHT).verdict == "fail"


def test_an_input_that_cannot_be_made_from_another_is_the_packs_fault(written: Written):
    lesson = written(
        inputs={"x": "sequence_mask(ends, 3)", "ends": "integers(9, 12, 4)"},
    )
    report = run(lesson, RIGHT)
    assert report.verdict == "internal"
    assert report.fault is not None and report.fault.code == "broken-pack"
    assert "a length must be from 0 to 3, got" in report.fault.message


def test_structured_inputs_reach_both_sides(written: Written):
    inputs = {
        "ids": "tokens(9, 3, 5)",
        "shown": "mask(3, 5)",
        "ends": "lengths(3, 5)",
        "before": "sequence_mask(ends, 5)",
        "matrix": "spd(2, 3)",
        "turn": "orthogonal(3)",
        "hot": "one_hot(3, 5)",
        "rows": "sorted(3, 5)",
        "pixels": "images(2, 6, 5, 3, dtype='uint8')",
        "edges": "graph(4, 5)",
        "params": {"w": "normal(3, 5)", "b": ["normal(5)"]},
        "step": "normal_like(params)",
        "beside": "near(params)",
        "mixed": "shuffled(rows)",
    }
    value = (
        "[double(one) for one in (matrix, turn, hot, rows, mixed, hot[ids[:, 0] % 3],"
        " rows * shown, rows * before, pixels / 255,"
        " rows[edges['senders'] % 3, edges['receivers']],"
        " step['w'] + beside['w'] - params['w'], step['b'][0] * beside['b'][0])]"
    )
    report = run(written(inputs=inputs, checks=[{"value": value}]), RIGHT)
    assert report.passed, report
