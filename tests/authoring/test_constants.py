"""Constants of the PyTorch that no case decides."""

from pathlib import Path

import pytest

from tests.authoring.test_edges import lesson
from tests.cases import for_each
from tutor.authoring.constants import constants, remarks_on_constants
from tutor.pool.forks import Forks


@for_each(
    ("torch", "inputs", "words"),
    [
        ("return F.layer_norm(x, (3,))", "x: normal(n, 3, scale=99)", "layer_norm's eps, 1e-05 by"),
        ("return F.layer_norm(x, (3,))", "x: normal(n, 3, scale=0.003)", ""),
        ("return F.layer_norm(x, (3,), eps=1e-5)", "x: normal(n, 3, scale=99)", "1e-05 for 1e-06"),
        ("return x / (x.norm() + 1e-6)", "x: normal(n)", "1e-06 for 1e-07"),
        ("return F.leaky_relu(x)", "x: normal(n)", ""),
        ("return F.leaky_relu(x)", "x: uniform(n)", "leaky_relu's negative_slope, 0.01 by default"),
        ("return x.clamp(-9.5, 9.5)", "x: normal(n)", "9.5 for 8.55"),
        ("return (1 - x).clamp(min=0.0)", "x: uniform(n, high=0.5)", "0 for 0.1"),
        ("total = 0.0\nreturn total + x.exp() * 1e5", "x: normal(n)", ""),
        ("return 2 * x ** 3", "x: normal(n)", ""),
        ("return torch.where(x > 50, 7, x)", "x: normal(n)", "50 for 51"),
        ("return x.masked_fill(x > 0, -torch.inf).max()", "x: normal(n, mean=-9)", "torch.inf for"),
        ("return x.masked_fill(x > 0, -torch.inf)", "x: normal(n, 9)", ""),
        ("best = float('inf')\nfor v in x: best = min(best, v)\nreturn best", "x: normal(n)", ""),
        ("return torch.optim.SGD([x], lr=0.1).state_dict() and x", "x: normal(n)", ""),
        ("noise = 0.1 * torch.rand(3)\nreturn x", "x: normal(n)", ""),
        ("return x.reshape(-1, 1).sum(1)", "x: normal(n)", ""),
    ],
)  # fmt: skip
def test_constants_that_no_case_decides(
    tmp_path: Path, forks: Forks, torch: str, inputs: str, words: str
) -> None:
    remarks = [*remarks_on_constants(lesson(tmp_path, torch, inputs), forks.reference)]
    assert len(remarks) == bool(words), remarks
    for remark in remarks:
        assert words in remark.message
        assert "(line 5)" in remark.message


def test_a_version_that_never_ends_or_raises_is_no_answer(tmp_path: Path, forks: Forks) -> None:
    made = lesson(tmp_path, "assert 0.5 == 1 / 2\nreturn F.layer_norm(99 * x, (3,))")
    (remark,) = remarks_on_constants(made, forks.reference)
    assert "0.5" not in remark.message


def test_constants_of_optimizers_are_tried_one_by_one() -> None:
    source = "opt = torch.optim.AdamW(ps, lr=0.1, eps=1e-3)\n"
    others = [one.other for one in constants(source)]
    assert [one for one in others if "betas=(0.81, 0.999)" in one]
    assert [one for one in others if "betas=(0.9, 0.8991)" in one]
    assert [one for one in others if "weight_decay=0.009" in one]
    assert sum("eps" in one.words for one in constants(source)) == 0  # it is given: a literal


@pytest.mark.parametrize("source", ["x: int = 3", "y = x[1:3, -1]", "'''0.5'''", "f(True)"])
def test_sizes_and_texts_are_no_constants(source: str) -> None:
    assert [*constants(source)] == []
