"""Reading Python that a stranger wrote, in the main process: parsed, and never run.

Parsers give up in several ways on deep or odd sources; here there is one.
"""

import ast
import warnings

MAX_SHOWN = 60
"""Characters of a piece of code that is quoted."""


def parse(source: str) -> ast.Module:
    """Return the syntax tree, which may be deep: walk it with `ast.walk`, which does not recurse.

    Raises:
        SyntaxError: it is not Python, or too deeply nested for the parser.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the stranger's code
            return ast.parse(source)
    except (RecursionError, MemoryError):
        raise SyntaxError("the code is too deeply nested") from None
    except ValueError as error:  # null bytes
        raise SyntaxError(str(error)) from None


def quoted(source: str, node: ast.expr) -> str:
    """Return the code of an expression on one line, as it is shown: what is long is cut."""
    code = " ".join((ast.get_source_segment(source, node) or "").split())
    return code if len(code) <= MAX_SHOWN else f"{code[: MAX_SHOWN - 1]}…"
