"""`gradescope/NAME/results.json`: results in Gradescope's format.

The fields are those of its published specification. A check is a test; a check that the pack hides
from students is `hidden`, and then Gradescope hides the total too. The score at the top overrides
the sum of the tests, from which lateness, an override or all-or-nothing grading may differ.
Gradescope requires a score: if a result needs review, the score is that of the rest, and the text
at the top says so first.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from tutor.foreign.plain_text import inert
from tutor.grading.outputs.code_reader import CodeReader
from tutor.grading.outputs.filenames import FileNames
from tutor.grading.outputs.grouping import AddResult, by_submission, format_number, review_reasons
from tutor.grading.outputs.student_view import StudentView, student_view
from tutor.grading.result import Batch, CheckScore, Result
from tutor.report import looks_text
from tutor.storage.files import write_atomically


def write_gradescope(
    batch: Batch, folder: Path, reader: CodeReader
) -> AbstractContextManager[AddResult]:
    """See `tutor.grading.outputs`."""
    names = FileNames()

    def write(results: Sequence[Result]) -> None:
        name = names.of(results[0].submission)
        data = msgspec.json.format(msgspec.json.encode(_results(batch, results)), indent=2)
        write_atomically(folder / "gradescope" / name / "results.json", data + b"\n", durable=False)

    return by_submission(write)


def _results(batch: Batch, results: Sequence[Result]) -> dict[str, Any]:
    return {
        "score": sum(result.final or 0.0 for result in results),
        "execution_time": round(sum(result.seconds for result in results), 3),
        "output": inert("\n".join(line for result in results for line in _output_lines(result))),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [test for result in results for test in _tests(result)],
        "extra_data": {
            "pack": batch.pack,
            "pack_version": batch.pack_version,
            "seed": str(batch.seed),  # more digits than many JSON readers keep
            "max_score": sum(result.max_score for result in results),
            "ungraded": [result.lesson for result in results if result.final is None],
            "needs_review": {
                result.lesson: why for result in results if (why := review_reasons(result))
            },
            "verdicts": {result.lesson: result.verdict for result in results},
            "overrides": {
                result.lesson: result.override.score
                for result in results
                if result.override is not None
            },
        },
    }


def _output_lines(result: Result) -> Iterator[str]:
    """Yield the lines above the tests."""
    if result.final is None:
        yield f"{result.lesson}: not graded yet and not in this score; a grader will review it."
    if result.looks and result.override is None:
        yield f"{result.lesson}: a grader will review it: it {looks_text(result.looks)}."
    if result.override is not None:
        score = format_number(result.override.score)
        yield f"{result.lesson}: a grader set the score to {score}: {result.override.reason}"
    view = student_view(result)
    if view.fault:
        yield f"{result.lesson}: {view.fault}{_where(view.values)}{_advice(view)}"
    if result.late is not None:
        yield f"{result.lesson}: {result.late.reason}"


def _tests(result: Result) -> Iterator[dict[str, Any]]:
    view = student_view(result)
    visible = {check.name: check for check in view.checks}
    for check in result.checks:
        yield {
            "score": check.points,
            "max_score": 0.0 if check.bonus else check.max_points,
            "status": "passed" if check.status == "pass" else "failed",
            "name": inert(f"{result.lesson}: {check.name}"),
            "output": inert(_check_output(visible.get(check.name, check))),
            "visibility": "visible" if check.visible else "hidden",
            "extra_data": {"kind": check.kind, "status": check.status},
        }
    if not result.checks:
        yield {
            "score": result.final or 0.0,
            "max_score": result.max_score,
            "status": "passed" if result.verdict == "pass" else "failed",
            "name": result.lesson,
            "output": inert(f"{view.fault}{_where(view.values)}"),
            "visibility": "visible",
            "extra_data": {"status": result.verdict},
        }


def _check_output(check: CheckScore) -> str:
    case = f"\nwith {check.case}" if check.case and check.status != "pass" else ""
    return f"{check.message}{_where(check.values)}{case}{_advice(check)}"


def _where(values: Sequence[str]) -> str:
    return f"\nwhere {', '.join(values)}" if values else ""


def _advice(part: CheckScore | StudentView) -> str:
    """Return what a check, or code that could not run, is explained by."""
    parts = []
    if (explained := part.explained) is not None:
        others = "".join(f"\nOr: {one.what}\n{one.instead}" for one in explained.alternatives)
        advice = f"\n{explained.why}\nInstead:\n{explained.instead}{others}"
        parts.append(f"{explained.lead}{explained.what}{advice if explained.instead else ''}")
    if (called := part.help) is not None:
        parts.append(f"{called.name}{called.signature}\n{called.about}".rstrip())
    return "".join(f"\n\n{one}" for one in parts)
