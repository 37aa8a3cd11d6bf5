"""Python's syntax trees, from several threads.

Python 3.11 counts the depth of all trees that are being made in one place. If another thread makes
one meanwhile, which is rare, it finds the depth wrong and raises SystemError.
"""

import ast
from contextlib import suppress
from threading import RLock
from typing import Any

_ONE_AT_A_TIME = RLock()
_TIMES = 9


def module_tree(source: str) -> ast.Module:
    """Return the tree of a module. Raises: as `ast.parse` does."""
    tree: ast.Module = _parse(source, "exec")
    return tree


def expression_tree(source: str) -> ast.Expression:
    """Return the tree of an expression. Raises: as `ast.parse` does."""
    tree: ast.Expression = _parse(source, "eval")
    return tree


def _parse(source: str, mode: str) -> Any:
    with _ONE_AT_A_TIME:
        for _ in range(_TIMES):  # a library may make trees, too
            with suppress(SystemError):
                return ast.parse(source, mode=mode)
        return ast.parse(source, mode=mode)
