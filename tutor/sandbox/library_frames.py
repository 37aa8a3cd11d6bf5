"""Frames of libraries in a traceback: they tell apart what raises one message in several ways."""

import linecache
import sys
import types
from pathlib import PurePath

from tutor.report import LibraryFrame
from tutor.sandbox.protocol import MAX_CODE, MAX_INSIDE

_PACKAGES = ("site-packages", "dist-packages", f"python3.{sys.version_info.minor}")
"""Folders that hold libraries."""


def frames_inside(frames: list[types.TracebackType]) -> list[LibraryFrame]:
    """Return the frames that are of libraries, those in the middle of very many left out."""
    found = [one for one in map(_frame, frames) if one is not None]
    half = MAX_INSIDE // 2
    return found if len(found) <= MAX_INSIDE else found[:half] + found[-half:]


def _frame(traceback: types.TracebackType) -> LibraryFrame | None:
    code, line = traceback.tb_frame.f_code, traceback.tb_lineno or 0
    parts = PurePath(code.co_filename).parts
    at = max((number for number, part in enumerate(parts) if part in _PACKAGES), default=-1)
    below = parts[at + 1 :]
    if at < 0 or not below or below[0] == "tutor":
        return None
    text = linecache.getline(code.co_filename, line).strip()
    return LibraryFrame("/".join(below)[:MAX_CODE], line, code.co_name[:MAX_CODE], text[:MAX_CODE])
