"""`jaxtutor list`: the lessons, and how far the learner is. It imports neither YAML, NumPy nor
Textual, nor does it open the log, which would take 10 ms."""

import argparse
from typing import TYPE_CHECKING, Any

from tutor.cli.output import PASSED, print_json, print_notices
from tutor.cli.selection import add_command, open_pack
from tutor.cli.usage import UsageError

if TYPE_CHECKING:
    from tutor.lesson import LessonSummary
    from tutor.manifest import Pack
    from tutor.pack import Problem

_MARKS = {"new": " ", "started": "·", "passed": "✓"}


def add_to(commands: Any) -> None:
    sub = add_command(
        commands, "list", list_lessons, "list the lessons and your progress", lesson=False
    )
    sub.add_argument("--json", action="store_true", help="print JSON")
    sub.set_defaults(logged=False)


def list_lessons(options: argparse.Namespace) -> int:
    from tutor.learner.progress import Progress

    pack = open_pack(options)
    summaries = _read_summaries(pack)
    with Progress() as progress:
        statuses = progress.statuses(pack.id)
        print_notices(progress.notices)
    if options.json:
        import msgspec

        lessons = [
            {
                "id": name,
                "title": summaries[name].title,
                "track": track.id,
                "status": statuses.get(name, "new"),
                "minutes": summaries[name].minutes,
                "needs": list(summaries[name].needs),
            }
            for track in pack.manifest.tracks
            for name in track.lessons
        ]
        print_json(msgspec.json.encode({"lessons": lessons}))
        return PASSED
    width = max(len(name) for name in pack.lessons)
    for track in pack.manifest.tracks:
        print(track.title)
        for name in track.lessons:
            mark = _MARKS[statuses.get(name, "new")]
            print(f"  {mark} {name:<{width}}  {summaries[name].title}")
    return PASSED


def _read_summaries(pack: "Pack") -> "dict[str, LessonSummary]":
    """Return the summary of every lesson; report the problems of all lessons at once."""
    from tutor.pack import BadPack
    from tutor.pack.catalogue import Catalogue

    catalogue = Catalogue(pack)
    summaries: dict[str, LessonSummary] = {}
    problems: list[Problem] = []
    for name in pack.lessons:
        try:
            summaries[name] = catalogue.summary(name)
        except BadPack as error:
            problems += error.problems
    catalogue.save()
    if problems:
        raise UsageError(BadPack(problems).text)
    return summaries
