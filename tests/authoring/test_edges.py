"""Edges of the domains of PyTorch's functions that no case reaches."""

from pathlib import Path
from textwrap import indent

from tests.cases import for_each
from tutor.authoring.edges import remarks_on_edges, unreached
from tutor.lesson import Lesson
from tutor.pack import load_pack
from tutor.pool.forks import Forks

PACK = "format: 1\nid: p\ntitle: P\ntracks: [{id: t, title: T, lessons: [q]}]\n"
LESSON = """\
id: q
title: Q
track: t
minutes: 2
brief: {brief}
hints: [a]
torch: |
  import torch
  import torch.nn.functional as F

  def f({parameters}):
{torch}
starter: "def f(*_): ..."
sizes: {{n: [4, 3]}}
inputs: {{{inputs}}}
checks:
  - value: f({parameters})
    tol: 0.00001
"""


def lesson(tmp_path: Path, torch: str, inputs: str = "x: normal(n, 3)", brief: str = "B") -> Lesson:
    parameters = ", ".join(part.partition(":")[0].strip() for part in inputs.split("; "))
    written = LESSON.format(
        brief=brief,
        parameters=parameters,
        torch=indent(torch, "      "),
        inputs=", ".join(
            f"{k}: '{v.strip()}'" for k, v in (p.split(":") for p in inputs.split("; "))
        ),
    )
    (tmp_path / "t").mkdir(exist_ok=True)
    (tmp_path / "pack.yaml").write_text(PACK)
    (tmp_path / "t/q.yaml").write_text(written)
    return load_pack(tmp_path).lesson("q")


PART = "x: normal(n, 3); i: integers(0, n, 2)"


@for_each(
    ("torch", "inputs", "edges"),
    [
        ("return torch.log(x)", "x: uniform(n, low=0.1, high=1)", ["log of 0"]),
        ("return x.log2()", "x: zeros(n)", []),
        ("return torch.log(x + 1)", "x: uniform(n, low=0.1, high=1)", []),  # nothing reaches it
        ("return x.softmax(0).log()", "x: normal(n)", []),
        ("return torch.sqrt(x * x)", "x: normal(n)", ["root of 0"]),
        ("return x / x.sum()", "x: normal(n)", ["division by 0"]),
        ("x = x.clone()\nx /= x.sum()\nreturn x", "x: normal(n)", ["division by 0"]),
        ("return 1 / x", "x: normal(n)", ["division by 0"]),
        ("return x / 3", "x: normal(n)", []),
        ("return x**0.5", "x: uniform(n, low=0.1, high=1)", ["power of 0"]),
        ("return x**2", "x: normal(n)", []),
        ("return x.norm(dim=1)", "x: normal(n, 3)", ["norm of zeros"]),
        ("return F.normalize(x, dim=1)", "x: normal(n, 3)", ["norm of zeros"]),
        ("return x.std(1)", "x: normal(n, 3)", ["standard deviation of equal numbers"]),
        ("return torch.acos(x)", "x: uniform(n, high=0.9)", ["arcsine or arccosine of 1"]),
        ("return x.masked_fill(m, -torch.inf).softmax(0)", "x: normal(n); m: mask(n)", []),
        ("return torch.vmap(lambda r: r / r.norm())(x)", "x: normal(n, 3)", []),  # not seen there
        ("return x[i]", "x: normal(n); i: int(0, n)", []),
        ("return x[i]", "x: normal(n); i: int(1, 2)", []),  # as good as a literal
        ("return x[i]", "x: normal(9); i: integers(1, 4, 8)", ["index 0", "the last index"]),
        ("return x[:i]", "x: normal(9); i: int(1, n)", ["a slice to the end"]),
        ("return x[:i]", "x: normal(n); i: int(1, n + 1)", []),
        ("return x[-i:]", "x: normal(2); i: int(1, n + 1)", []),  # what is too long is the whole
        ("return x[torch.arange(9), i]", "x: normal(9, 5); i: integers(0, 4, 9)",
         ["the last index of axis 1"]),
        ("return sum(x[k - 1] * x[k] for k in range(1, len(x)))", "x: normal(n)", []),
        ("return x[0] + x[1]", "x: normal(n)", []),
        ("return x[0] + x[-1] + x[:2].sum()", "x: normal(n)", []),
        ("return F.embedding(i, x)", "x: normal(4, 3); i: integers(0, 3, 9)", ["the last index"]),
    ],
)  # fmt: skip
def test_edges_that_can_be_reached_and_are_not(
    tmp_path: Path, forks: Forks, torch: str, inputs: str, edges: list[str]
) -> None:
    missed = unreached(lesson(tmp_path, torch, inputs), tmp_path / "cache", forks.reference)
    assert [edge for _, edge in missed] == edges


@for_each(
    ("brief", "remarked"),
    [
        ("The sums of rows are positive", False),
        ("The sum is never 0", False),
        ("No row has a sum of zero", False),
        ("Divide by the sum", True),
        ("Never mind. There are 0 rules", True),
        ("Write `never 0`", True),
    ],
)
def test_a_brief_excludes_edges_in_words(
    tmp_path: Path, forks: Forks, brief: str, remarked: bool
) -> None:
    made = lesson(tmp_path, "return x / x.sum()", brief=brief)
    remarks = [*remarks_on_edges(made, tmp_path / "cache", forks.reference)]
    assert bool(remarks) == remarked
    for remark in remarks:
        assert remark.path == ("torch",)
        assert "division by 0 (line 5)" in remark.message
        assert "never 0" in remark.remedy


def test_a_loop_that_only_ends_for_drawn_inputs_is_stopped(tmp_path: Path, forks: Forks) -> None:
    made = lesson(tmp_path, "while (x.abs() < 9).any():\n    x = 2 * x\nreturn x / x.norm()")
    assert unreached(made, tmp_path / "cache", forks.reference) == []
