"""`jaxtutor pack new | add | lint | preview`: commands for writing packs."""

import argparse
import sys
from pathlib import Path
from typing import Any

from tutor.cli.output import print_json
from tutor.cli.pack import add
from tutor.cli.stopping import exit_code_of_app
from tutor.cli.usage import UsageError, usage_errors

CLEAN, REMARKS, INVALID = 0, 1, 2


def add_to(commands: Any) -> None:
    """Add the commands to those of `pack`."""
    new = add(commands, "new", _new, "make a pack with a lesson to edit")
    new.add_argument("dir", metavar="DIR", help="a new or empty directory")

    one = add(commands, "add", _add, "add a lesson to edit, with its solution")
    one.add_argument("lesson", metavar="LESSON", help="its id: words joined by hyphens")
    where = one.add_mutually_exclusive_group()
    where.add_argument("--track", metavar="TRACK", help="add it to this track (default: the last)")
    where.add_argument("--new-track", metavar="TRACK", help="add it to a new last track")
    one.add_argument(
        "--pack", metavar="DIR", default=".", help="the pack (default: this directory)"
    )

    lint = add(
        commands, "lint", _lint, "report problems in a pack, and remarks on what could be better"
    )
    lint.add_argument(
        "dir", nargs="?", default=".", metavar="DIR", help="the pack (default: this directory)"
    )
    lint.add_argument("--strict", action="store_true", help="exit with 1 if there are remarks")
    lint.add_argument("--static", action="store_true", help="do not run the pack's PyTorch")
    lint.add_argument("--json", action="store_true", help="print JSON")

    preview = add(commands, "preview", _preview, "preview a lesson, with its hidden parts")
    preview.add_argument("dir", metavar="DIR", help="the pack")
    preview.add_argument("lesson", metavar="LESSON", help="the lesson's id")


def _new(options: argparse.Namespace) -> int:
    from tutor.authoring.new import CannotMake, new_pack

    with usage_errors(CannotMake):
        _print_paths(new_pack(Path(options.dir)))
    print(f"\nNext: jaxtutor pack lint {options.dir}")
    return CLEAN


def _add(options: argparse.Namespace) -> int:
    from tutor.authoring.new import CannotMake, add_lesson

    track = options.new_track or options.track
    with usage_errors(CannotMake), usage_errors(before="nothing was written: "):
        made = add_lesson(Path(options.pack), options.lesson, track, options.new_track is not None)
    _print_paths(made)
    print(f"\nEdit {made[0]}, then run: jaxtutor pack lint {options.pack}")
    return CLEAN


def _print_paths(files: list[Path]) -> None:
    for path in files:
        print(path)


def _lint(options: argparse.Namespace) -> int:
    from tutor.authoring.lint import lint
    from tutor.pool.forks import Forks

    if options.static:
        findings = lint(Path(options.dir))
    else:
        with Forks() as forks:  # PyTorch is imported once for all lessons
            findings = lint(Path(options.dir), forks.reference)
    if options.json:
        print_json(findings.to_json())
    else:
        for one in [*findings.problems, *findings.remarks]:
            print(one)
        for lesson, missing in findings.skipped.items():
            print(f"note: {lesson} is skipped on this machine: it {missing}")
        counts = [(len(findings.problems), "problem"), (len(findings.remarks), "remark")]
        found = [f"{n} {noun}" if n == 1 else f"{n} {noun}s" for n, noun in counts if n]
        lessons = f"{findings.lessons} lesson{'' if findings.lessons == 1 else 's'}"
        print(", ".join(found) if found else f"{options.dir}: {lessons}, no problems or remarks")
    if findings.problems:
        return INVALID
    return REMARKS if findings.remarks and options.strict else CLEAN


def _preview(options: argparse.Namespace) -> int:
    from tutor.learner.progress import Progress
    from tutor.learner.workspace import Workspace
    from tutor.pack import open_pack
    from tutor.storage import paths
    from tutor.suggestions import nearest
    from tutor.ui.desk import Desk
    from tutor.ui.preview_app import PreviewApp

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the preview needs a terminal; try `jaxtutor pack lint`")
    pack = open_pack(options.dir)
    if options.lesson not in pack.lessons:
        hint = (
            nearest(options.lesson, pack.lessons) or f"; add it: jaxtutor pack add {options.lesson}"
        )
        raise UsageError(f"there is no lesson {options.lesson!r}{hint}")
    # Separate from the author's own files and progress: they may be learning from this pack, too.
    kept = paths.data() / "preview"
    with Desk(pack, Workspace(pack, kept), Progress(kept / "progress.db")) as desk:
        app = PreviewApp(desk, options.lesson)
        app.run()
    return exit_code_of_app(app.return_code)
