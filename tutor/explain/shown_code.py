"""The learner's code that notebooks and pytest show around the lines of a traceback."""

import re
from collections.abc import Callable, Sequence

_NUMBERED = re.compile(r"^(?:-+> {0,4}|\s{0,8})\d{1,9} (?P<line>.*)$")
_PYTEST_CODE = re.compile(r"^(?:> {3}| {4})(?P<line>.*)$")

MAX_LINES = 400
"""Lines to keep, the last ones."""


def numbered_lines(lines: Sequence[str], starts: Callable[[str], bool | None]) -> list[str]:
    """Return the code that IPython shows with numbers.

    **Arguments:** `starts`: returns whether a line begins a frame of the learner's code (True), of
    a library (False), or none (None).
    """
    found: list[str] = []
    own = False
    for line in lines:
        begins = starts(line)
        if begins is not None:
            own = begins
        elif own and (numbered := _NUMBERED.match(line)):
            found.append(numbered["line"])
    return found[-MAX_LINES:]


def pytest_lines(lines: Sequence[str], places: Callable[[str], bool | None]) -> list[str]:
    """Return the code that pytest shows of functions down to the failing line.

    **Arguments:** `places`: returns whether a line says the file and line of code that is shown
    above it, and that this is the learner's (True) or a library's (False); None if it does not.
    """
    found: list[str] = []
    block: list[str] = []
    failed = False
    for line in lines:
        of = places(line)
        if of is not None:
            found += block if of and failed else []
            block, failed = [], False
        elif code := _PYTEST_CODE.match(line):
            failed = failed or line[0] == ">"
            block.append(code["line"])
        elif line.strip() and not failed:
            block = []
    return found[-MAX_LINES:]
