"""`jaxtutor list`: the lessons, and how far the learner is; with `--map`, what PyTorch becomes in
JAX.

It imports neither YAML, NumPy nor Textual, nor does it open the log, which would take 10 ms.
"""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from tutor.cli.output import NOT_PASSED, PASSED, print_error, print_json, print_notices
from tutor.cli.selection import add_command, next_command, open_pack

if TYPE_CHECKING:
    from tutor.learner.progress import LessonStatus
    from tutor.lesson import LessonSummary
    from tutor.manifest import Pack
    from tutor.pack import Problem

MARKS: "dict[LessonStatus, str]" = {"new": " ", "started": "·", "passed": "✓", "known": "~"}


def add_to(commands: Any) -> None:
    sub = add_command(
        commands, "list", list_lessons, "list the lessons and your progress", lesson=False
    )
    sub.add_argument("--map", nargs="?", const="", metavar="WORD",
                     help="print what PyTorch code becomes in JAX, track by track; only the rows "
                     "that contain WORD")  # fmt: skip
    sub.add_argument("--json", action="store_true", help="print JSON")
    sub.set_defaults(logged=False)


def list_lessons(options: argparse.Namespace) -> int:
    pack = open_pack(options)
    if options.map is not None:
        return _print_maps(options, pack)
    from tutor.learner.placement import WHY, listed_title, placed, reviews
    from tutor.learner.progress import Progress

    summaries = _read_summaries(pack)
    with Progress() as progress:
        statuses = placed(pack.manifest, progress.statuses(pack.id))
        print_notices(progress.notices)
    tests = reviews(pack.manifest)
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
                "review": name in tests,
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
            mark = MARKS[statuses.get(name, "new")]
            print(f"  {mark} {name:<{width}}  {listed_title(summaries[name].title, name in tests)}")
    if "known" in statuses.values():
        print(f"\n{MARKS['known']} {WHY}")
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
        raise BadPack(problems)
    return summaries


def _print_maps(options: argparse.Namespace, pack: "Pack") -> int:
    """Print the rows of all maps, or those that contain a word."""
    from tutor.pack.maps import search

    maps = search(pack.manifest.tracks, options.map)
    if options.json:
        import msgspec

        rows = [
            {"track": one.track.id, **msgspec.structs.asdict(row)}
            for one in maps
            for row in one.rows
        ]
        print_json(msgspec.json.encode({"map": rows}))
    elif maps:
        import shutil

        from tutor.cli.map_table import map_lines

        columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        for line in map_lines(maps, columns):
            print(line)
    if maps:
        return PASSED
    if search(pack.manifest.tracks):
        command = next_command(options, "list", "--map")
        print_error(f"No row contains {options.map!r}. To see all rows, run: {command}")
    else:
        print_error("No track of this pack has a map.")
    return NOT_PASSED
