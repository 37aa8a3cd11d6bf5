"""Reading Python that a stranger wrote: parsed in the main process, compiled in sandboxes.

Parsers give up in several ways on deep or odd sources; here there is one.
"""

import ast
import warnings
from bisect import bisect_left
from threading import Lock
from types import CodeType

from tutor.foreign.plain_text import cut
from tutor.foreign.source_lines import source_lines
from tutor.foreign.source_text import MAX_BYTES
from tutor.syntax_tree import module_tree

MAX_SHOWN = 60
"""Characters of a piece of code that is quoted."""


_ONE_AT_A_TIME = Lock()

_TOO_DEEP = (RecursionError, MemoryError)
"""What Python's own parser and compiler raise at their limits."""


def parse(source: str) -> ast.Module:
    """Return the syntax tree, which may be deep: walk it with `ast.walk`, which does not recurse.

    Raises:
        SyntaxError: it is not Python, too long, or too deeply nested for the parser.
    """
    if len(source) > MAX_BYTES:
        raise SyntaxError(f"the code is larger than {MAX_BYTES >> 10} KiB")
    try:
        # `catch_warnings` is of the whole process.
        with _ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the stranger's code
            return module_tree(source)
    except _TOO_DEEP:
        raise SyntaxError("the code is too deeply nested") from None
    except ValueError as error:  # null bytes
        raise SyntaxError(str(error)) from None


def compile_module(source: str, filename: str) -> CodeType:
    """Return a module's code. Raises: SyntaxError: as `parse` does, with the line."""
    try:
        return compile(source, filename, "exec")
    except _TOO_DEEP:
        lines = source_lines(source)
        # Cut off in the middle, code fails in other ways: this is where the statement ends.
        last = 1 + bisect_left(
            range(1, len(lines)),
            True,
            key=lambda count: _too_deep("\n".join(lines[:count]), filename),
        )
        place = (filename, last, None, lines[last - 1])
        raise SyntaxError("the code is too deeply nested", place) from None


def _too_deep(source: str, filename: str) -> bool:
    try:
        compile(source, filename, "exec")
    except SyntaxError:
        return False
    except _TOO_DEEP:
        return True
    return False


def quoted(source: str, node: ast.expr) -> str:
    """Return the code of an expression on one line, as it is shown: what is long is cut."""
    code = " ".join((ast.get_source_segment(source, node) or "").split())
    return cut(code, MAX_SHOWN)
