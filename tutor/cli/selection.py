"""The pack and the lesson that a command is about."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tutor.cli.output import print_error
from tutor.cli.usage import PACK_HELP, Parser, UsageError

if TYPE_CHECKING:
    from tutor.lesson import Lesson
    from tutor.manifest import Pack


def add_command(
    commands: Any,
    name: str,
    command: Callable[[argparse.Namespace], int],
    help_: str,
    *,
    lesson: bool = True,
    pack: bool = True,
) -> Parser:
    """Add a command that takes `--pack` and a lesson, if not stated otherwise."""
    sub: Parser = commands.add_parser(
        name, help=help_, description=help_[0].upper() + help_[1:] + "."
    )
    sub.set_defaults(command=command)
    if lesson:
        sub.add_argument("lesson", nargs="?", metavar="LESSON",
                         help="the lesson's id, as `list` shows it; by default the one opened "
                         "last, else the first that is not passed")  # fmt: skip
    if pack:
        add_pack_option(sub)
    return sub


def add_fresh(sub: Parser) -> None:
    sub.add_argument("--fresh", action="store_true",
                     help="use nothing that your earlier runs compiled")  # fmt: skip


def add_pack_option(sub: Parser, help_: str = PACK_HELP) -> None:
    # Suppressed, or its default would undo a `--pack` given before the command.
    sub.add_argument("--pack", metavar="PACK", default=argparse.SUPPRESS, help=help_)


def open_pack(options: argparse.Namespace) -> "Pack":
    from tutor.pack import open_pack

    return open_pack(options.pack)


def open_lesson(options: argparse.Namespace) -> "tuple[Pack, Lesson]":
    """Return the pack, and the lesson that is named, or else the current one, whose id is then
    printed."""
    pack = open_pack(options)
    if options.lesson is not None:
        return pack, open_lesson_named(options, pack, options.lesson)
    from tutor.learner.going_on import current_lesson
    from tutor.learner.progress import Progress

    with Progress() as progress:
        name = current_lesson(pack, progress)
    print_error(f"Lesson: {name}")
    return pack, open_lesson_named(options, pack, name)


def open_lesson_named(options: argparse.Namespace, pack: "Pack", name: str) -> "Lesson":
    check_name(options, pack, name)
    return pack.lesson(name)


def check_name(options: argparse.Namespace, pack: "Pack", name: str) -> None:
    """Raise if the pack has no lesson of this name."""
    if name not in pack.lessons:
        from tutor.suggestions import nearest

        hint = nearest(name, pack.lessons) or f". Run `{next_command(options, 'list')}` to see all"
        if name == "-" or name.endswith(".py"):
            again = next_command(options, "check", "LESSON", name)
            hint = f"; to check a file, name its lesson, too: {again}"
        raise UsageError(f"there is no lesson {name!r}{hint}")


def next_command(options: argparse.Namespace, command: str, *arguments: str) -> str:
    """Return a command to run next, on the same pack."""
    import shlex

    pack = [] if options.pack is None else ["--pack", options.pack]
    return shlex.join(["jaxtutor", command, *arguments, *pack])
