"""LibreOffice reopens the gradebook without loss: `make libreoffice`, if it is installed."""

import csv
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tutor.grading.result import Result

Write = Callable[..., Path]

OPEN = "CSV:44,34,76,1,,0,true"
"""Commas, quotation marks, UTF-8, from line 1, quoted fields as text."""

SAVE = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,false"
"""The same, with cells as shown."""

LIKE_NUMBERS = ["007", "1e5", "2026-01-02", "1/2", "TRUE", "1" * 20, "1,5", "12:30", "50%", "$5"]
"""Names that a spreadsheet would convert."""


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def reopened(book: Path, folder: Path) -> list[list[str]]:
    """Return the cells after LibreOffice converted the table to a workbook and back."""

    def convert(*arguments: str) -> None:
        profile = (folder / "profile").as_uri()
        subprocess.run(
            ["soffice", f"-env:UserInstallation={profile}", "--headless", *arguments],
            check=True,
            capture_output=True,
            timeout=200,
        )

    convert(f"--infilter={OPEN}", "--convert-to", "xlsx", "--outdir", str(folder), str(book))
    workbook = folder / f"{book.stem}.xlsx"
    convert("--convert-to", SAVE, "--outdir", str(folder / "again"), str(workbook))
    return rows(folder / "again" / book.name)


def test_marks_come_back(write: Write, real: Sequence[Result], tmp_path: Path):
    book = write(real, ["gradebook.csv"]) / "gradebook.csv"
    assert reopened(book, tmp_path) == rows(book)


def test_hostile_names_come_back(write: Write, hostile: Sequence[Result], tmp_path: Path):
    book = write(hostile, ["gradebook.csv"]) / "gradebook.csv"
    assert reopened(book, tmp_path) == rows(book)


def test_names_like_numbers_come_back(write: Write, tmp_path: Path):
    results = [Result(name, "tall", "pass", 0.3333, 1.0) for name in sorted(LIKE_NUMBERS)]
    book = write(results, ["gradebook.csv"]) / "gradebook.csv"
    assert reopened(book, tmp_path) == rows(book)
