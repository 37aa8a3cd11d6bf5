"""What a user may have meant: the nearest of the names there are."""

import difflib
from collections.abc import Iterable


def suggested(word: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, if anything known is near."""
    found = difflib.get_close_matches(word, sorted(known), n=1)
    return f"did you mean {found[0]!r}?" if found else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, if anything known is near."""
    found = suggested(word, known)
    return f"; {found}" if found else ""


def choice(word: str, known: Iterable[str], none: str) -> str:
    """What to write instead: what is near, else what there is; `none` where there is nothing."""
    listed = sorted(known)
    if found := suggested(word, listed):
        return found
    more = f" and {len(listed) - 12} more" if len(listed) > 12 else ""
    return f"available: {', '.join(listed[:12])}{more}" if listed else none
