"""`gradescope/NAME/results.json`: what Gradescope takes from an autograder.

The fields are those of its published specification. A check is a test; one that the pack does not
let students see is `hidden`, which on Gradescope hides the total, too. The score that counts stands
at the top and outweighs the tests' sum, from which lateness, a person's word or all-or-nothing may
take it. Gradescope takes no result without a score. So where a person has to look first, the score
is that of the rest, and the text at the top begins with that.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from tutor.files import write_atomically
from tutor.grading.outputs.filenames import FileNames
from tutor.grading.outputs.grouping import by_submission, number
from tutor.grading.outputs.seen import seen
from tutor.grading.outputs.sources import Sources
from tutor.grading.result import Batch, CheckScore, Result
from tutor.plain_text import inert
from tutor.report import Explanation


def gradescope(
    batch: Batch, folder: Path, sources: Sources
) -> AbstractContextManager[Callable[[Result], None]]:
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
        "output": inert("\n".join(line for result in results for line in _told(result))),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [test for result in results for test in _tests(result)],
        "extra_data": {
            "pack": batch.pack,
            "pack_version": batch.pack_version,
            "seed": str(batch.seed),  # more digits than many readers of JSON keep
            "max_score": sum(result.max_score for result in results),
            "ungraded": [result.lesson for result in results if result.final is None],
            "verdicts": {result.lesson: result.verdict for result in results},
            "overrides": {
                result.lesson: result.override.score
                for result in results
                if result.override is not None
            },
        },
    }


def _told(result: Result) -> Iterator[str]:
    """What students read first."""
    if result.final is None:
        yield f"{result.lesson}: not graded yet, so not in this score; a person will look at it."
    if result.override is not None:
        score, reason = number(result.override.score), result.override.reason
        yield f"{result.lesson}: a person has set the score to {score}: {reason}"
    shown = seen(result)
    if shown.why:
        yield f"{result.lesson}: {shown.why}{_explained(shown.explained)}"
    if result.late is not None:
        yield f"{result.lesson}: {result.late.reason}"


def _tests(result: Result) -> Iterator[dict[str, Any]]:
    visible = {check.name: check for check in seen(result).checks}
    for check in result.checks:
        shown = visible.get(check.name, check)
        yield {
            "score": check.points,
            "max_score": 0.0 if check.bonus else check.max_points,
            "status": "passed" if check.status == "pass" else "failed",
            "name": inert(f"{result.lesson}: {check.name}"),
            "output": inert(_output(shown)),
            "visibility": "visible" if check.visible else "hidden",
            "extra_data": {"kind": check.kind, "status": check.status},
        }
    if not result.checks:
        yield {
            "score": result.final or 0.0,
            "max_score": result.max_score,
            "status": "passed" if result.verdict == "pass" else "failed",
            "name": result.lesson,
            "output": inert(seen(result).why),
            "visibility": "visible",
            "extra_data": {"status": result.verdict},
        }


def _output(check: CheckScore) -> str:
    case = f"\nwith {check.case}" if check.case and check.status != "pass" else ""
    return f"{check.message}{case}{_explained(check.explained)}"


def _explained(explained: Explanation | None) -> str:
    if explained is None:
        return ""
    lead = "Probably: " if explained.likely else ""
    return f"\n\n{lead}{explained.what}\n{explained.why}\nInstead:\n{explained.instead}"
