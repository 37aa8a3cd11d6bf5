"""`jaxtutor pack …`: commands for authors and instructors.

Each command imports its modules when it is called, because the parser is built at every start.
"""

from functools import partial
from pathlib import Path
from typing import Any

from tutor.cli.selection import add_command


def add_to(commands: Any) -> None:
    """Add `pack` and its commands to those of `jaxtutor`."""
    parser = commands.add_parser(
        "pack", help="write, test and install packs of lessons",
        description="Write, test and install packs of lessons.",
    )  # fmt: skip
    parser.set_defaults(command=lambda _: parser.print_help() or 0)
    packs = parser.add_subparsers(title="commands", metavar="COMMAND")
    from tutor.cli import author, install, trials  # which need `add`

    author.add_to(packs)
    install.add_to(packs)
    trials.add_to(packs)


add = partial(add_command, lesson=False, pack=False)
"""Add a command to `pack`, and return its parser."""


def is_own(folder: str) -> bool:
    """Return whether a pack is in a directory of its author's: neither an installed copy nor a pack
    given by its id."""
    from tutor.pack.archive import INVENTORY
    from tutor.pack.folder import MANIFEST

    return Path(folder, MANIFEST).is_file() and not Path(folder, INVENTORY).exists()


def recorded_message(lessons: int, folder: str) -> str:
    """Say that the answers of PyTorch were recorded for so many lessons of the pack in `folder`."""
    counted = f"{lessons} lesson{'' if lessons == 1 else 's'}"
    return f"Recorded PyTorch's answers of {counted} in {Path(folder, 'recorded')}"
