"""`junit.xml`: a test suite for each submission to a lesson, a test case for each check.

Written for the strictest of the schemas in use (Ant's), so that every reader of JUnit XML takes it:
all attributes are there, and `failure` (the answer is wrong) is kept apart from `error` (the code
broke, or nobody could tell).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from tutor.files import replacing
from tutor.grading.outputs.grouping import number, reasons
from tutor.grading.outputs.sources import Sources
from tutor.grading.result import Batch, CheckScore, Result
from tutor.plain_text import inert

_KINDS = {"fail": "failure", "error": "error", "internal": "error", "skipped": "skipped"}


@contextmanager
def junit(batch: Batch, folder: Path, sources: Sources) -> Iterator[Callable[[Result], None]]:
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


def _suite(batch: Batch, result: Result, place: int) -> Element:
    # An empty name is no name; a space would be taken away.
    suite = Element("testsuite", name=inert(result.submission).strip() or "?")
    properties = SubElement(suite, "properties")
    for name, value in _properties(result):
        SubElement(properties, "property", name=name, value=inert(value))
    for check in result.checks:
        _case(suite, batch, result, check.name, check.seconds, check)
    if result.verdict != "pass" and all(
        check.status in ("pass", "skipped") for check in result.checks
    ):
        # No check says why: the import failed, one of several runs did, or nothing could be run.
        _case(suite, batch, result, "graded", result.seconds, None)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")
    cases = suite.findall("testcase")
    attributes = {
        "package": f"{batch.pack}.{result.lesson}",
        "id": str(place),
        "timestamp": _timestamp(batch.started),
        "hostname": "localhost",  # which machine it was says nothing of a submission
        "tests": str(len(cases)),
        "failures": str(len(suite.findall("testcase/failure"))),
        "errors": str(len(suite.findall("testcase/error"))),
        "skipped": str(len(suite.findall("testcase/skipped"))),
        "time": f"{result.seconds:.3f}",
    }
    for name, value in attributes.items():
        suite.set(name, value)
    return suite


def _properties(result: Result) -> Iterator[tuple[str, str]]:
    yield "score", "" if result.final is None else number(result.final)
    yield "max_score", number(result.max_score)
    yield "verdict", result.verdict
    yield "seed", str(result.seed)
    if result.override is not None:
        yield "override", number(result.override.score)
    for reason in reasons(result):
        yield "note", reason


def _case(
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
    found = SubElement(case, _KINDS.get(status, "error"), message=inert(message), type=status)
    if check is not None and check.case:
        found.text = inert(f"with {check.case}")


def _timestamp(started: str) -> str:
    """In the schema's form, which has no time zone: that of Greenwich."""
    try:
        found = datetime.fromisoformat(started)
    except ValueError:
        found = datetime.fromtimestamp(0, UTC)
    return found.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
