"""The learner's other commands: the app, `watch`, `hint`, `solution`, `export` and the like."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.cli.check import read_code
from tutor.cli.output import NOT_PASSED, PASSED, print_notices
from tutor.cli.selection import (
    add_command,
    add_fresh,
    check_name,
    next_command,
    open_lesson,
    open_pack,
)
from tutor.cli.stopping import exit_code_of_app
from tutor.cli.usage import UsageError, parse_count, parse_seed, usage_errors

if TYPE_CHECKING:
    from tutor.lesson import Lesson
    from tutor.manifest import Pack


def add_to(commands: Any) -> None:
    sub = add_command(commands, "open", run_app,
                      "open the app on a lesson; `jaxtutor LESSON` is short")  # fmt: skip
    add_fresh(sub)
    sub = add_command(commands, "watch", watch_file, "check your file every time it is saved")
    sub.add_argument("--seed", type=parse_seed, default=0, metavar="N", help="draw other inputs")
    add_fresh(sub)
    sub.add_argument("--no-editor", dest="editor", action="store_false",
                     help="open no editor by itself inside VS Code, Zellij or tmux")  # fmt: skip
    sub = add_command(commands, "hint", take_hint, "take the next hint of a lesson")
    sub.add_argument("--failure", type=parse_count, metavar="N",
                     help="show the hint that `check` offers for a failure")  # fmt: skip
    add_command(commands, "reset", reset, "restore the starter; your code is kept as a backup")
    add_command(commands, "notes", show_notes, "print your notes on a lesson, and where they are")
    sub = add_command(commands, "torch", show_torch, "print the PyTorch of a lesson, to run it")
    sub.add_argument("--output", metavar="DIR", type=Path,
                     help="write it into DIR as LESSON.py, with its data")  # fmt: skip
    sub = add_command(commands, "solution", show_solution, "show the solution of a lesson")
    sub.add_argument("--anyway", action="store_true", help="show it before you have passed")
    sub = commands.add_parser("export", help="write all of your work into a zip archive")
    sub.add_argument("file", type=Path, metavar="FILE", help="the archive, such as work.zip")
    sub.add_argument("--force", action="store_true", help="replace FILE if it exists")
    sub.set_defaults(command=export)


def run_app(options: argparse.Namespace) -> int:
    pack = open_pack(options)
    if options.word is not None:
        _check_word(options, pack)
    elif options.lesson is not None:
        check_name(options, pack, options.lesson)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the app needs a terminal; try `jaxtutor list` or `jaxtutor --help`")
    from tutor.ui.app import TutorApp
    from tutor.ui.desk import Desk

    with Desk(pack, fresh=options.fresh) as desk:
        app = TutorApp(desk, options.lesson, welcome=options.lesson is None)
        app.run()
    return exit_code_of_app(app.return_code)


def _check_word(options: argparse.Namespace, pack: "Pack") -> None:
    """Raise if the first word is neither a command nor a lesson, or if more follows a lesson."""
    if options.word not in pack.lessons:
        from tutor.suggestions import nearest

        hint = nearest(options.word, [*options.names, *pack.lessons])
        hint = hint or f". Run `jaxtutor --help` or `{next_command(options, 'list')}`"
        raise UsageError(f"there is no command or lesson {options.word!r}{hint}")
    if options.rest:
        raise UsageError(
            f"unexpected after the lesson {options.word}: {' '.join(options.rest)}. Expected a "
            f"command first, such as: {next_command(options, 'check', options.word)}"
        )


def watch_file(options: argparse.Namespace) -> int:
    from tutor.cli.watch import watch

    pack, lesson = open_lesson(options)
    read_code(pack, lesson, None)  # fails now if the file cannot be created or read
    command = partial(next_command, options)
    watch(pack, lesson, options.seed, command, editor=options.editor, fresh=options.fresh)
    return PASSED


def take_hint(options: argparse.Namespace) -> int:
    pack, lesson = open_lesson(options)
    if options.failure is not None:
        return _show_failure_hint(lesson, options.failure)
    print(next_hint(pack, lesson, partial(next_command, options)))
    return PASSED


def next_hint(pack: "Pack", lesson: "Lesson", command: Callable[..., str]) -> str:
    """Take the next hint, and return it; after the last, return the last again.

    **Arguments:** `command`: returns a command to run next, as `next_command` does.
    """
    from tutor.learner.progress import Progress

    with Progress() as progress:
        progress.opened(pack.id, lesson.id)
        before = progress.hints(pack.id, lesson.id)
        taken = progress.take_hint(pack.id, lesson.id, len(lesson.hints))
        print_notices(progress.notices)
    text = f"Hint {taken} of {len(lesson.hints)}\n\n{lesson.hints[taken - 1].rstrip()}"
    if taken == before and pack.solution(lesson.id) is not None:
        solution = command("solution", lesson.id, "--anyway")
        text += f"\n\nThat was the last hint. For the solution, run: {solution}"
    return text


def _show_failure_hint(lesson: "Lesson", number: int) -> int:
    hints = lesson.failure_hints
    if number > len(hints):
        count = f"{len(hints)} hint{'' if len(hints) == 1 else 's'} for failures"
        raise UsageError(f"--failure: {lesson.id} has {count}; `check` says which one to see")
    print(hints[number - 1].hint.rstrip())
    return PASSED


def reset(options: argparse.Namespace) -> int:
    from tutor.learner.workspace import Workspace

    pack, lesson = open_lesson(options)
    workspace = Workspace(pack)
    with usage_errors(before="nothing was changed: "):
        backup = workspace.reset(lesson)
    print(f"Restored the starter: {workspace.path(lesson)}")
    if backup is not None:
        print(f"Backup of your code: {backup}")
    return PASSED


def show_notes(options: argparse.Namespace) -> int:
    from tutor.learner.notes import Notes
    from tutor.learner.workspace import Workspace

    pack, lesson = open_lesson(options)
    notes = Notes(Workspace(pack).folder, lesson)
    with usage_errors(where=notes.path, after="; mend or move it"):
        text = notes.read()
    print(text.rstrip() or f"There are no notes on {lesson.id} yet.")
    print(f"File: {notes.path}", file=sys.stderr)
    return PASSED


def show_torch(options: argparse.Namespace) -> int:
    import shutil

    from tutor.inputs.datasets import DATA, DATASETS
    from tutor.pack.data_folder import data_file
    from tutor.storage.files import write_atomically

    pack, lesson = open_lesson(options)
    if not lesson.torch:
        raise UsageError(f"{lesson.id} has no PyTorch: it consists of questions")
    if options.output is None:
        print(lesson.torch.rstrip())
        return PASSED
    files = {one.file: pack.root / data_file(one.file) for one in lesson.data.values()}
    for one in DATASETS.values():
        files |= {name: DATA / name for name in (one.file, one.licence)}
    wanted = [name for name in files if name in lesson.torch]
    wanted += [one.licence for one in DATASETS.values() if one.file in wanted]
    path = options.output / f"{lesson.id}.py"
    if path.exists():
        raise UsageError(f"{path} exists; choose another directory")
    with usage_errors(where=options.output):
        options.output.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lesson.torch.encode())
        for name in wanted:
            shutil.copy(files[name], options.output / name)
    print(f"Wrote {', '.join(str(options.output / name) for name in (path.name, *wanted))}")
    return PASSED


def show_solution(options: argparse.Namespace) -> int:
    from tutor.learner.progress import Progress

    pack, lesson = open_lesson(options)
    with Progress() as progress:
        allowed = options.anyway or progress.passed(pack.id, lesson.id)
    if not allowed:
        hint = next_command(options, "hint", lesson.id)
        anyway = next_command(options, "solution", lesson.id, "--anyway")
        print(
            f"You have not passed {lesson.id} yet. For a hint, run: {hint}\n"
            f"To see the solution anyway, run: {anyway}",
            file=sys.stderr,
        )
        return NOT_PASSED
    solution = pack.solution(lesson.id)
    if solution is None:
        raise UsageError("this pack has no solution for this lesson")
    print(solution.rstrip())
    return PASSED


def export(options: argparse.Namespace) -> int:
    """Write all of a learner's work into one archive, in plain files."""
    from tutor.learner.export import write_archive
    from tutor.storage.files import replacing

    if options.file.exists() and not options.force:
        raise UsageError(f"{options.file} exists; choose another name, or add --force")
    with usage_errors(where=options.file), replacing(options.file) as file:
        count = write_archive(file)
    print(f"Wrote {options.file}: {count} file{'' if count == 1 else 's'}")
    return PASSED
