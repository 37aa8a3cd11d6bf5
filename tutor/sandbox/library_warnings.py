"""Warnings of libraries as a learner can use them: one for each place in a library that warns, with
the learner's line in place of the library's."""

import sys
import warnings
from typing import Any, TextIO

from tutor.foreign.plain_text import cut

MAX_WARNING = 400
"""Characters of a warning."""


class LibraryWarnings:
    """Stands in for `warnings.showwarning` while a module of user code runs.

    Python shows a warning again if only its text differs, such as by a shape.

    **Arguments:** `filename`: the module's.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._shown: set[tuple[str, int]] = set()

    def show(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        """Print a warning to standard error."""
        out: Any = file or sys.stderr
        if out is None:
            return
        if filename == self._filename:
            out.write(warnings.formatwarning(message, category, filename, lineno, line))
        elif (filename, lineno) not in self._shown:
            self._shown.add((filename, lineno))
            text = cut(str(message).partition("\n")[0], MAX_WARNING)
            out.write(f"{category.__name__}: {text}{self._at()}\n")

    def _at(self) -> str:
        """Return the line of the module that called the library."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self._filename:
            frame = frame.f_back  # type: ignore[assignment]
        return f" ({self._filename}, line {frame.f_lineno})" if frame is not None else ""
