"""`junit.xml`: a test suite per submission to a lesson, a test case per check.

Written for the strictest schema in use (Ant's), so every reader of JUnit XML accepts it: all
attributes are present, and `failure` (a wrong answer) differs from `error` (the code broke, or
could not be graded).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from tutor.foreign.plain_text import inert
from tutor.grading.outputs.code_reader import CodeReader
from tutor.grading.outputs.grouping import AddResult, format_number, reasons
from tutor.grading.result import Batch, CheckScore, Result
from tutor.storage.files import replacing

_ELEMENTS = {"fail": "failure", "error": "error", "internal": "error", "skipped": "skipped"}


@contextmanager
def write_junit(batch: Batch, folder: Path, reader: CodeReader) -> Iterator[AddResult]:
    """See `tutor.grading.outputs`."""
    written = 0
    with replacing(folder / "junit.xml") as file:
        file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')

        def add(result: Result) -> None:
            nonlocal written
            suite = _suite(batch, result, written)
            ElementTree.indent(suite)
            file.write(ElementTree.tostring(suite, encoding="utf-8") + b"\n")
            written += 1

        yield add
        file.write(b"</testsuites>\n")


def _suite(batch: Batch, result: Result, number: int) -> Element:
    # The schema rejects an empty name, and its type strips spaces.
    suite = Element("testsuite", name=inert(result.submission).strip() or "?")
    properties = SubElement(suite, "properties")
    for name, value in _properties(result):
        SubElement(properties, "property", name=name, value=inert(value))
    for check in result.checks:
        _add_case(suite, batch, result, check.name, check.seconds, check)
    if result.verdict != "pass" and all(
        check.status in ("pass", "skipped") for check in result.checks
    ):
        # No check says why: the import failed, one of several runs did, or nothing could be run.
        _add_case(suite, batch, result, "graded", result.seconds, None)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")
    attributes = {
        "package": f"{batch.pack}.{result.lesson}",
        "id": str(number),
        "timestamp": _timestamp(batch.started),
        "hostname": "localhost",  # required; the real one is irrelevant
        "tests": str(len(suite.findall("testcase"))),
        "failures": str(len(suite.findall("testcase/failure"))),
        "errors": str(len(suite.findall("testcase/error"))),
        "skipped": str(len(suite.findall("testcase/skipped"))),
        "time": f"{result.seconds:.3f}",
    }
    for name, value in attributes.items():
        suite.set(name, value)
    return suite


def _properties(result: Result) -> Iterator[tuple[str, str]]:
    yield "score", "" if result.final is None else format_number(result.final)
    yield "max_score", format_number(result.max_score)
    yield "verdict", result.verdict
    yield "seed", str(result.seed)
    if result.override is not None:
        yield "override", format_number(result.override.score)
    for reason in reasons(result):
        yield "note", reason


def _add_case(
    suite: Element,
    batch: Batch,
    result: Result,
    name: str,
    seconds: float,
    check: CheckScore | None,
) -> None:
    case = SubElement(
        suite, "testcase",
        name=inert(name), classname=f"{batch.pack}.{result.lesson}", time=f"{seconds:.3f}",
    )  # fmt: skip
    status: str = check.status if check is not None else result.verdict
    message = check.message if check is not None else result.fault or " | ".join(result.notes)
    if status == "pass":
        return
    element = SubElement(case, _ELEMENTS.get(status, "error"), message=inert(message), type=status)
    if check is not None and check.case:
        element.text = inert(f"with {check.case}")


def _timestamp(started: str) -> str:
    """Return a time in the schema's form: UTC, without a time zone."""
    try:
        time = datetime.fromisoformat(started)
    except ValueError:
        time = datetime.fromtimestamp(0, UTC)
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
