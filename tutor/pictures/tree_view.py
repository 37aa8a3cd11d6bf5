"""A pytree with its wrong entries open, and the right ones folded to a mark and their shape."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from tutor.report import Branch

INDENT = 2
"""Columns by which what is in an entry stands further right."""


def tree_view(branches: Iterable[Branch]) -> Table:
    """Return the lines of a tree: a mark, the key, and what is to be said about it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for one in branches:
        mark, style = ("✓", "green") if one.right else ("✗", "red")
        name = Text.assemble(" " * (INDENT * one.depth), (mark, style), f" {one.name}")
        table.add_row(name, Text(one.text, "dim" if one.right else ""))
    return table
