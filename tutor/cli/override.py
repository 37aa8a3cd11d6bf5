"""`jaxtutor grade override`: set a score by hand."""

import argparse
import sys
from pathlib import Path

from tutor.cli.usage import Parser, UsageError, usage_errors


def add_to(grade: Parser) -> None:
    """Add the command to the parser of `grade`."""
    sub = grade.add_command(
        "override", description="Set the score of one result by hand. No later run changes it."
    )
    sub.set_defaults(command=override)
    sub.add_argument("out", metavar="OUT", type=Path, help="the --out directory of the batch")
    sub.add_argument("submission", metavar="SUBMISSION", help="its name, as in results.jsonl")
    sub.add_argument("lesson", metavar="LESSON", help="the lesson's id")
    sub.add_argument("score", metavar="SCORE", type=_parse_points, help="the points to give")
    sub.add_argument("--reason", required=True, help="the reason; students see it")
    sub.add_argument("--by", help="who decided; your user name by default")


def override(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from tutor.grading.journal import NAME, BadJournal, Journal
    from tutor.grading.result import Override
    from tutor.grading.results_file import record_override
    from tutor.grading.student_names import normalize_name
    from tutor.suggestions import nearest

    if not (options.out / NAME).is_file():
        raise UsageError(
            f"{options.out} holds no graded batch; give the directory that `grade` wrote to"
        )
    if not options.reason.strip():
        raise UsageError("--reason must not be empty: students see it")
    name, lesson = normalize_name(options.submission), options.lesson
    now = datetime.now(UTC).isoformat(timespec="seconds")
    decision = Override(options.score, options.reason.strip(), options.by or _user_name(), now)
    with usage_errors(BadJournal, where=options.out), Journal(options.out) as journal:
        result = journal.result(name, lesson)
        if result is None:
            names = {one for one, other in journal if other == lesson}
            lessons = {other for one, other in journal if one == name}
            if lessons:
                raise UsageError(f"{name} has no result for {lesson!r}{nearest(lesson, lessons)}")
            raise UsageError(f"there is no submission {name!r}{nearest(name, names)}")
        journal.override(name, lesson, decision)
        record_override(options.out, name, lesson, decision)
    was = "none" if result.score is None else f"{result.score:g}"
    print(
        f"{name} now has {options.score:g} of {result.max_score:g} points for {lesson} "
        f"(graded: {was})."
    )
    if options.score > result.max_score:
        print("jaxtutor: the score is higher than the lesson's points", file=sys.stderr)
    print("Updated results.jsonl; `jaxtutor grade … --resume` updates the other files.")
    return 0


def _parse_points(text: str) -> float:
    import math

    try:
        points = float(text)
    except ValueError:
        points = -1.0
    if not (math.isfinite(points) and points >= 0):
        raise argparse.ArgumentTypeError(f"must be a number of points such as 2.5, got {text!r}")
    return points


def _user_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
