"""Other programs open the gradebook without loss, and evaluate nothing."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import hypothesis
import pandas
import pytest
from hypothesis import strategies

from tests.grading.outputs.conftest import BATCH, FakeCodeReader
from tests.grading.outputs.made import NASTY, hostile_result
from tutor.foreign.plain_text import one_line
from tutor.grading import outputs
from tutor.grading.outputs.gradebook import FORMULA, escape_cell
from tutor.grading.result import Batch, Result

Write = Callable[..., Path]
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
NAMES = ["Ada Lovelace", "Bob", "Çağla Ünal", "Dan"]


def opened(folder: Path) -> list[dict[str, str]]:
    with (folder / "gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_per_submission_and_a_column_per_lesson(write: Write, real: Sequence[Result]):
    rows = opened(write(real, ["gradebook.csv"]))
    assert list(rows[0]) == ["submission", "double", "tall", "total", "late", "notes"]
    assert [row["submission"] for row in rows] == NAMES
    ada, bob, cagla, _ = rows
    assert (ada["double"], ada["tall"], ada["total"], ada["late"], ada["notes"]) == (
        "2", "1", "3", "", "",
    )  # fmt: skip
    assert (bob["double"], bob["tall"], bob["total"], bob["late"]) == ("0", "-0.3", "-0.3", "2.5")
    assert cagla["tall"] == "1"
    assert "tall: set to 1 by Prof. X (was 0): the idea is right" in cagla["notes"]


def test_a_missing_score_is_empty_and_not_zero(write: Write, real: Sequence[Result]):
    dan = opened(write(real, ["gradebook.csv"]))[-1]
    assert (dan["double"], dan["tall"], dan["total"]) == ("", "", "")
    assert "double: needs review: the file is empty" in dan["notes"]


def test_a_lesson_not_handed_in_is_empty_and_noted(write: Write):
    (row,) = opened(write([Result("a", "tall", "pass", 1.0, 1.0)], ["gradebook.csv"]))
    assert (row["double"], row["tall"], row["total"]) == ("", "1", "1")
    assert row["notes"] == "double: not handed in"


def test_a_lesson_may_be_named_like_a_fixed_column(write: Write):
    batch = Batch("mini", "", 0, ("total",))
    (row,) = opened(write([Result("a", "total", "pass", 1.5, 2.0)], ["gradebook.csv"], batch))
    assert row["lesson total"] == row["total"] == "1.5"


def test_pandas_opens_it_without_loss(write: Write, real: Sequence[Result]):
    table = pandas.read_csv(write(real, ["gradebook.csv"]) / "gradebook.csv", encoding="utf-8")
    assert list(table["submission"]) == NAMES
    assert table["double"].dtype == table["total"].dtype == "float64"
    assert table["total"].isna().tolist() == [False, False, False, True]
    assert table["tall"].tolist()[:3] == [1.0, -0.3, 1.0]


def test_hostile_names_come_back_and_none_is_a_formula(write: Write, hostile: Sequence[Result]):
    folder = write(hostile, ["gradebook.csv"])
    rows = opened(folder)
    for name, row in zip(NASTY, rows, strict=True):
        assert unescape_cell(row["submission"]) == "".join(
            one_line(one) if unicodedata.category(one) in UNSEEN else one for one in name
        )
        assert not any(is_formula(cell) for cell in (row["submission"], row["notes"]))
    table = pandas.read_csv(folder / "gradebook.csv", dtype=str, keep_default_na=False)
    assert table["submission"].tolist() == [row["submission"] for row in rows]
    assert table["notes"].tolist() == [row["notes"] for row in rows]


def unescape_cell(cell: str) -> str:
    """Return the text given to `escape_cell`, except for control characters."""
    return re.sub(FORMULA.pattern.replace(";)", ";)'"), r"\1\2", cell)


def is_formula(cell: str) -> bool:
    """Return whether a spreadsheet evaluates the cell, or a part of it."""
    parts = [part for piece in cell.split(";") for part in piece.split("\t")]
    return any(part.strip()[:1] in tuple("=+-@＝＋－＠\r\n") for part in parts if part.strip())


@hypothesis.given(strategies.text(alphabet="=+-@;'\"\t\r\n ,a＝\u00a0é🚀") | strategies.text())
@hypothesis.example("' '=x")
@hypothesis.example(";;=1")
def test_any_text_comes_back_and_is_not_a_formula(text: str):
    cell = escape_cell(text)
    assert not is_formula(cell)
    file = io.StringIO()
    csv.writer(file).writerow([cell, "after"])
    assert next(csv.reader(io.StringIO(file.getvalue(), newline=""))) == [cell, "after"]
    if not any(unicodedata.category(one) in UNSEEN for one in text):
        assert unescape_cell(cell) == text


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gradebook")


@hypothesis.given(strategies.lists(strategies.text(), min_size=1, max_size=4))
@hypothesis.settings(deadline=None, max_examples=40)
def test_any_names_give_one_row_each(shared: Path, names: list[str]):
    results = [
        hostile_result(name)
        for place, name in enumerate(names)
        if place == 0 or name != names[place - 1]
    ]
    outputs.write(BATCH, results, shared, ["gradebook.csv"], FakeCodeReader())
    rows = opened(shared)
    assert [row["submission"] for row in rows] == [escape_cell(one.submission) for one in results]
    assert [row["total"] for row in rows] == ["3.25"] * len(results)
