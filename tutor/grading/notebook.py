"""The Python code of a notebook: its code cells, in order.

IPython syntax that is not Python (`%matplotlib inline`, `!pip install`) is refused with its cell
and line. Leaving it out might change what the code does, so its author has to.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from tutor.foreign.python_source import parse

_HELP = re.compile(r"[\w.\[\]()]+\?{1,2}")
_TARGETS = re.compile(r"[\w\s.,\[\]]+")
_COMMAND = re.compile(r"[%!]\s*\w")
MAX_SHOWN = 60


class BadNotebook(Exception):
    """The notebook cannot be read as Python; the message names cell and line if known."""


def notebook_code(data: bytes) -> str:
    """Return the code cells, each below a comment with its number.

    Raises:
        BadNotebook: not a notebook, without code, or with IPython syntax.
    """
    try:
        content = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadNotebook(f"not a notebook: {error}") from None
    parts = []
    for number, source in _code_cells(content):
        if not source.strip():
            continue
        _refuse_magic(number, source)
        parts.append(f"# cell {number}\n{source.rstrip()}\n")
    if not parts:
        raise BadNotebook("a notebook without a line of code")
    return "\n".join(parts)


def _code_cells(content: Any) -> Iterable[tuple[int, str]]:
    """Yield the code cells' sources with their numbers, counting all cells from 1."""
    if isinstance(content, dict) and isinstance(content.get("worksheets"), list):  # format 3
        sheets = [sheet for sheet in content["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in sheet.get("cells") or ()]
    elif isinstance(content, dict) and isinstance(content.get("cells"), list):
        cells = content["cells"]
    else:
        raise BadNotebook("not a notebook: it has no cells")
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        lines: list[Any] = source if isinstance(source, list) else [source]
        if not all(isinstance(line, str) for line in lines):
            raise BadNotebook(f"cell {number}: its source is not text")
        yield number, "".join(lines)


def _refuse_magic(number: int, source: str) -> None:
    with suppress(SyntaxError):
        parse(source)
        return  # valid Python: a line may begin with % if it continues the one before
    for line, text in enumerate(source.splitlines(), 1):
        shown = text.strip()
        if _is_magic(shown):
            if len(shown) > MAX_SHOWN:
                shown = f"{shown[: MAX_SHOWN - 1]}…"
            raise BadNotebook(
                f"cell {number}, line {line}: `{shown}` is IPython, not Python; delete it, save "
                "the notebook and hand it in again"
            )


def _is_magic(line: str) -> bool:
    """Return whether a line is a magic, a shell command, a question about a name (`x?`), or sets
    names to what one of the first two gives (`files = !ls`). The line is a stranger's: the time is
    proportional to its length."""
    if line[:1] in ("%", "!", "?"):
        return True
    targets, equals, value = line.partition("=")
    if equals and _COMMAND.match(value.lstrip()) and _TARGETS.fullmatch(targets):
        return True
    return _HELP.fullmatch(line) is not None
