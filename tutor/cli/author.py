"""`jaxtutor pack new|add|lint|preview`: writing packs."""

import argparse
import sys
from pathlib import Path
from typing import Any

from tutor.cli.pack import add
from tutor.cli.stopping import exit_code_of_app
from tutor.cli.usage import UsageError

CLEAN, REMARKS, INVALID = 0, 1, 2


def add_to(commands: Any) -> None:
    """Add the commands to those of `pack`."""
    new = add(commands, "new", _new, "make a pack with one lesson to change")
    new.add_argument("dir", metavar="DIR", help="a folder that does not exist yet, or is empty")

    one = add(commands, "add", _add, "add a lesson to change, with its solution, to a pack")
    one.add_argument("lesson", metavar="LESSON", help="its id: words joined by hyphens")
    where = one.add_mutually_exclusive_group()
    where.add_argument("--track", metavar="TRACK", help="the track it belongs to; else the last")
    where.add_argument("--new-track", metavar="TRACK", help="a track to make for it, at the end")
    one.add_argument("--pack", metavar="DIR", default=".", help="the pack; else this folder")

    lint = add(commands, "lint", _lint, "tell what is wrong with a pack, and what could be better")
    lint.add_argument("dir", nargs="?", default=".", metavar="DIR", help="the pack; else here")
    lint.add_argument(
        "--strict", action="store_true", help="remarks count: exit 1 if there are any"
    )
    lint.add_argument(
        "--static", action="store_true", help="run nothing, not even the pack's PyTorch"
    )
    lint.add_argument("--json", action="store_true", help="as JSON")

    preview = add(commands, "preview", _preview, "see a lesson, and what learners do not see of it")
    preview.add_argument("dir", metavar="DIR", help="the pack")
    preview.add_argument("lesson", metavar="LESSON", help="the lesson's id")


def _new(options: argparse.Namespace) -> int:
    from tutor.authoring.new import CannotMake, new_pack

    try:
        _tell_made(new_pack(Path(options.dir)))
    except CannotMake as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from None
    print(f"\nNext: jaxtutor pack lint {options.dir}")
    return CLEAN


def _add(options: argparse.Namespace) -> int:
    from tutor.authoring.new import CannotMake, add_lesson
    from tutor.pack import BadPack

    track = options.new_track or options.track
    try:
        made = add_lesson(Path(options.pack), options.lesson, track, options.new_track is not None)
    except CannotMake as error:
        raise UsageError(str(error)) from None
    except BadPack as error:
        raise UsageError(error.text) from None
    except OSError as error:
        raise UsageError(f"nothing was made: {error.filename}: {error.strerror}") from None
    _tell_made(made)
    print(f"\nChange what is in {made[0]}, then: jaxtutor pack lint {options.pack}")
    return CLEAN


def _tell_made(files: list[Path]) -> None:
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
        sys.stdout.write(findings.to_json().decode() + "\n")
    else:
        for one in [*findings.problems, *findings.remarks]:
            print(one)
        counts = [(len(findings.problems), "problem"), (len(findings.remarks), "remark")]
        told = [f"{n} {noun}" if n == 1 else f"{n} {noun}s" for n, noun in counts if n]
        lessons = f"{findings.lessons} lesson{'' if findings.lessons == 1 else 's'}"
        print(", ".join(told) if told else f"{options.dir}: {lessons}, nothing to remark")
    if findings.problems:
        return INVALID
    return REMARKS if findings.remarks and options.strict else CLEAN


def _preview(options: argparse.Namespace) -> int:
    from tutor import paths
    from tutor.learner.progress import Progress
    from tutor.learner.workspace import Workspace
    from tutor.pack import BadPack, open_pack
    from tutor.suggestions import nearest
    from tutor.ui.desk import Desk
    from tutor.ui.preview_app import PreviewApp

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the preview needs a terminal; try `jaxtutor pack lint`")
    try:
        pack = open_pack(options.dir)
    except BadPack as error:
        raise UsageError(error.text) from None
    if options.lesson not in pack.lessons:
        hint = (
            nearest(options.lesson, pack.lessons) or f"; add it: jaxtutor pack add {options.lesson}"
        )
        raise UsageError(f"there is no lesson {options.lesson!r}{hint}")
    # Not the author's own files and progress: they may be learning from this pack as well.
    kept = paths.data() / "preview"
    with Desk(pack, Workspace(pack, kept), Progress(kept / "progress.db")) as desk:
        app = PreviewApp(desk, options.lesson)
        app.run()
    return exit_code_of_app(app.return_code)
