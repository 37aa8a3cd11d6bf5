"""Formats are selected by name, written in one pass, and complete or unchanged."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from tests.cases import for_each
from tests.grading.outputs.conftest import BATCH, FakeCodeReader
from tests.grading.outputs.made import hostile_result
from tutor.grading import outputs
from tutor.grading.result import Override, Result
from tutor.report import Look

Write = Callable[..., Path]
STREAMS = ["gradebook.csv", "junit.xml", "report.html", "students", "gradescope"]


@for_each(
    ("text", "names"),
    [
        ("gradebook.csv,junit.xml", ["gradebook.csv", "junit.xml"]),
        ("csv, junit ,html,csv", ["gradebook.csv", "junit.xml", "report.html"]),
        ("students/NAME.html,gradescope/NAME/results.json", ["students", "gradescope"]),
        ("results.jsonl", []),
        ("", []),
        ("all", list(outputs.FORMATS)),
    ],
)
def test_formats_are_selected_by_name(text: str, names: list[str]):
    assert outputs.parse_formats(text) == names


def test_an_unknown_format_is_reported_with_the_known_ones():
    with pytest.raises(outputs.BadFormat, match=r"did you mean 'gradebook\.csv'"):
        outputs.parse_formats("gradbook.csv")
    with pytest.raises(outputs.BadFormat, match=r"available: gradebook\.csv, junit\.xml, "):
        outputs.parse_formats("junit.xml,pdf")


def test_every_format_is_written_in_one_pass(write: Write, real: Sequence[Result]):
    folder = write(iter(real))
    assert sorted(path.name for path in folder.iterdir()) == [
        "export", "gradebook.csv", "gradescope", "junit.xml", "report.html", "students",
    ]  # fmt: skip


def test_every_output_says_that_code_looks_at_the_interpreter(write: Write):
    look = (Look(12, "stack", "sys._getframe"), Look(14, "modules", "sys.modules"))
    passed = Result("Ada", "double", "pass", 2.0, 2.0, looks=look)
    folder = write([passed], STREAMS)
    said = "reads the call stack at line 12 (`sys._getframe`); reaches into other modules"
    for name in ("gradebook.csv", "junit.xml", "report.html"):
        text = (folder / name).read_text(encoding="utf-8")
        assert f"needs review: {said}" in text and said in text, name
    page = (folder / "students" / "Ada.html").read_text(encoding="utf-8")
    assert said in page and "A grader will review it." in page
    bundle = msgspec.json.decode((folder / "gradescope" / "Ada" / "results.json").read_bytes())
    assert said in bundle["output"] and said in bundle["extra_data"]["needs_review"]["double"][0]
    assert bundle["score"] == 2
    review = (folder / "report.html").read_text(encoding="utf-8").partition('id="review"')[2]
    assert said in review.partition("<h2")[0]

    settled = msgspec.structs.replace(passed, override=Override(2.0, "harmless", "Kim", ""))
    folder = write([settled], STREAMS)
    for name in ("gradebook.csv", "junit.xml", "report.html"):
        assert "needs review" not in (folder / name).read_text(encoding="utf-8")


def test_the_same_results_give_the_same_bytes(tmp_path: Path, real: Sequence[Result]):
    def files(name: str) -> dict[str, bytes]:
        outputs.write(BATCH, real, tmp_path / name, list(outputs.FORMATS), FakeCodeReader())
        root = tmp_path / name
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    assert files("first") == files("second")


def test_an_interrupted_write_keeps_the_old_files(write: Write, real: Sequence[Result]):
    def broken() -> Iterator[Result]:
        yield from real[:3]
        raise KeyboardInterrupt

    folder = write(real)
    before = {path: path.read_bytes() for path in folder.glob("*.*")}
    with pytest.raises(KeyboardInterrupt):
        write(broken())
    assert {path: path.read_bytes() for path in folder.glob("*.*")} == before
    assert not list(folder.rglob("*.tmp"))


def test_memory_does_not_grow_with_the_batch(tmp_path: Path):
    large = 20_000

    def results(count: int) -> Iterator[Result]:
        for place in range(count):
            made = hostile_result(f"{place} " + "m" * large)
            yield msgspec.structs.replace(made, submission=f"student {place}")
            del made
            gc.collect(1)

    def peak(count: int) -> int:
        tracemalloc.start()
        outputs.write(BATCH, results(count), tmp_path / str(count), STREAMS, FakeCodeReader())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)  # what is imported or compiled once
    few, many = peak(10), peak(60)
    assert many - few < 50 * large / 4
