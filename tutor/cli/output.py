"""Exit codes, and printing that all commands share."""

import sys
from collections.abc import Iterable
from contextlib import suppress

PASSED, NOT_PASSED, USAGE, INTERNAL = 0, 1, 2, 3

REPORT_BUG = "This may be a bug in jaxtutor: run `jaxtutor doctor --report`."


def print_json(data: bytes) -> None:
    sys.stdout.write(data.decode() + "\n")
    sys.stdout.flush()


def print_error(message: str = "") -> None:
    """Print to standard error, which may be closed: a terminal can be gone by now."""
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)


def print_notices(notices: Iterable[str]) -> None:
    for notice in notices:
        print_error(f"jaxtutor: {notice}")
