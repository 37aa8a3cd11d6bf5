"""The lines of a module, as Python counts them."""

import re

_END = re.compile(r"\r\n|\r|\n")


def source_lines(source: str) -> list[str]:
    """Return the lines of code: `str.splitlines` also ends a line at a form feed or a separator in
    a comment or a string, where Python does not."""
    return _END.split(source)
