"""`jaxtutor export`: all of a learner's work in one archive, in plain files."""

import argparse
from pathlib import Path
from typing import Any

from tutor.cli.output import PASSED
from tutor.cli.usage import UsageError


def add_to(commands: Any) -> None:
    sub = commands.add_parser("export", help="write all of your work into a zip archive")
    sub.add_argument("file", type=Path, metavar="FILE", help="the archive, such as work.zip")
    sub.add_argument("--force", action="store_true", help="replace FILE if it exists")
    sub.set_defaults(command=export)


def export(options: argparse.Namespace) -> int:
    from tutor.learner.export import write_archive
    from tutor.storage.files import replacing

    if options.file.exists() and not options.force:
        raise UsageError(f"{options.file} exists; choose another name, or add --force")
    try:
        with replacing(options.file) as file:
            count = write_archive(file)
    except OSError as error:
        raise UsageError(f"{error.filename or options.file}: {error.strerror}") from None
    print(f"Wrote {options.file}: {count} file{'' if count == 1 else 's'}")
    return PASSED
