"""A notebook as the Python that is in it: its code cells, in their order.

What is IPython and no Python (`%matplotlib inline`, `!pip install`) is refused with its cell and
line: to leave it out might change what the code does, and whoever wrote it should say.
"""

import ast
import re
import warnings
from collections.abc import Iterable
from typing import Any

import msgspec

_MAGIC = re.compile(r"^\s*([%!?].*|[\w.\[\]()]+\?{1,2}\s*|[\w\s.,\[\]]+=\s*[%!]\s*\w.*)$")
MAX_SHOWN = 60


class BadNotebook(Exception):
    """It cannot be read as Python; the message names cell and line where there is one."""


def code_of(data: bytes) -> str:
    """The code cells one after the other, each below a comment with its number.

    Raises:
        BadNotebook: no notebook, without code, or with code that is IPython's.
    """
    try:
        found = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadNotebook(f"no notebook: {error}") from None
    parts = []
    for number, source in _cells(found):
        if not source.strip():
            continue
        _refuse_magic(number, source)
        parts.append(f"# cell {number}\n{source.rstrip()}\n")
    if not parts:
        raise BadNotebook("a notebook without a line of code")
    return "\n".join(parts)


def _cells(found: Any) -> Iterable[tuple[int, str]]:
    """Numbers, from 1 and over all kinds of cells, and sources of the code cells."""
    if isinstance(found, dict) and isinstance(found.get("worksheets"), list):  # of 2014
        sheets = [sheet for sheet in found["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in sheet.get("cells") or ()]
    elif isinstance(found, dict) and isinstance(found.get("cells"), list):
        cells = found["cells"]
    else:
        raise BadNotebook("no notebook: it has no cells")
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        lines: list[Any] = source if isinstance(source, list) else [source]
        if not all(isinstance(line, str) for line in lines):
            raise BadNotebook(f"cell {number}: its source is no text")
        yield number, "".join(lines)


def _refuse_magic(number: int, source: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is no affair of the notebook's form
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    else:
        return  # a line may well begin with % where it goes on from the one before
    for line, text in enumerate(source.splitlines(), 1):
        if _MAGIC.match(text):
            shown = text.strip()
            if len(shown) > MAX_SHOWN:
                shown = f"{shown[: MAX_SHOWN - 1]}…"
            raise BadNotebook(
                f"cell {number}, line {line}: `{shown}` is IPython's, not Python; take it out, "
                "save the notebook and hand it in again"
            )
