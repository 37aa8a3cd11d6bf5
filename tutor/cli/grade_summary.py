"""The summary at the end of `jaxtutor grade`."""

import argparse
import shlex
import sys
from pathlib import Path

import msgspec

from tutor.cli.output import print_json
from tutor.foreign.plain_text import one_line
from tutor.grading.journal import Head
from tutor.grading.results_file import Summary


def print_summary(
    options: argparse.Namespace,
    head: Head,
    out: Path,
    summary: Summary,
    problems: list[str],
    graded: int,
    seconds: float,
) -> None:
    """**Arguments:** `graded`, `seconds`: what was graded now, and how long that took."""
    if options.json:
        data = {
            "pack": head.pack,
            "pack_version": head.pack_version,
            "seed": head.seed,
            "repeat": head.repeat,
            "lessons": head.lessons,
            "out": str(out),
            "graded": graded,
            "seconds": round(seconds, 3),
            **msgspec.structs.asdict(summary),
            "problems": problems,
        }
        print_json(msgspec.json.encode(data))
        return
    for one in summary.waiting:
        line = f"{one.submission}: {one.lesson}: {one.verdict}: {one.why}"
        print(f"needs review: {one_line(line)[:400]}", file=sys.stderr)
    if (more := summary.unsettled - len(summary.waiting)) > 0:
        print(f"… and {more} more, see results.jsonl", file=sys.stderr)
    for problem in problems:
        label = "" if problem.startswith("--late") else "problem: "
        print(f"{label}{one_line(problem)[:400]}", file=sys.stderr)
    if options.quiet:
        return
    verdicts = ", ".join(f"{count} {name}" for name, count in sorted(summary.verdicts.items()))
    rate = f" ({graded / seconds:.1f}/s)" if graded and seconds > 1 else ""
    print(
        f"{summary.results} results of {summary.submissions} submissions: {verdicts or 'none'}\n"
        f"{graded} graded now in {seconds:.1f} s{rate}, with seed {head.seed}\n"
        f"Results: {out / 'results.jsonl'}"
    )
    if summary.unsettled:
        first = summary.waiting[0]
        print(f"To set a score: jaxtutor grade override {shlex.quote(str(out))} "
              f"{shlex.quote(first.submission)} {first.lesson} POINTS --reason REASON")  # fmt: skip
