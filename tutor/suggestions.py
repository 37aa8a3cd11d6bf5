"""Suggesting similar names for misspelt ones."""

import difflib
from collections.abc import Iterable


def suggested(word: str, known: Iterable[str]) -> str:
    """Return `did you mean 'x'?`, or an empty string if nothing is similar. Of names that begin
    with the word it is the first."""
    names = list(known)
    begun = [name for name in names if len(word) > 2 and name.startswith(word)]
    found = begun or difflib.get_close_matches(word, sorted(names), n=1)
    return f"did you mean {found[0]!r}?" if found else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?`, or an empty string if nothing is similar."""
    found = suggested(word, known)
    return f"; {found}" if found else ""


def choice(word: str, known: Iterable[str], none: str) -> str:
    """Return a similar name, else the available names, or `none` if there are none."""
    names = list(known)
    listed = sorted(names)
    if found := suggested(word, names):
        return found
    more = f" and {len(listed) - 12} more" if len(listed) > 12 else ""
    return f"available: {', '.join(listed[:12])}{more}" if listed else none
