"""The learner's own editor."""

import os
import shlex
import shutil

COMMON = ("editor", "nano", "vi")
"""Tried if neither `VISUAL` nor `EDITOR` is set; the first is Debian's choice of the user."""


def editor_command() -> list[str]:
    """Return the command that opens a file in the learner's editor; empty if there is none.

    Raises:
        ValueError: `VISUAL` or `EDITOR` is no command, for a quote is missing.
    """
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if chosen:
        return shlex.split(chosen)
    return next(([found] for name in COMMON if (found := shutil.which(name))), [])
