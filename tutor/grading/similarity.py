"""Submissions that resemble each other more than chance has it: pairs for a person to look at.

The method is that of MOSS (Schleimer, Wilkerson, Aiken: Winnowing, SIGMOD 2003) on Python's syntax
tree in place of text. A submission becomes the sequence of its nodes' types, so that names,
numbers, comments and layout do not count; names that were imported and what is looked up in them
(`jnp.mean`) stay, for these nobody may change at will. Every run of `RUN` nodes gets a checksum,
and of `WINDOW` neighbouring ones the smallest is kept: a fingerprint. What two submissions share
is noticed from `RUN + WINDOW - 1` nodes on, about two lines.

Fingerprints of the starter do not count, nor do those that more than `COMMON` submissions have: a
short exercise has few right answers, and who found the same as ten others copied from none.
It also bounds the work: a fingerprint gives at most `COMMON` pairs for each submission, so time
grows with the number of submissions and not with its square.

Nothing of a submission is run. It is parsed, if it is not large, and whatever the parser says of
it is taken for "cannot be read".
"""

import ast
import hashlib
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

RUN = 10
WINDOW = 6
COMMON = 10
THRESHOLD = 0.6
"""Of the fingerprints of both together, how many are shared."""

FEWEST = 4
"""So many fingerprints must be shared: fewer are a line or two."""

MOST_PAIRS = 100
"""Of a lesson; a person looks at all of them."""

MAX_BYTES = 64 << 10
"""Of a source that is parsed: the parser is quick even with what is meant to hurt it."""


class Spot(Struct, frozen=True):
    """A fingerprint, and the lines that it stands for."""

    print: int
    first: int
    last: int


class SimilarPair(Struct, frozen=True):
    """Two submissions, by their places, and how many fingerprints they share."""

    a: int
    b: int
    similarity: float
    shared: int


class Comparison(Struct, frozen=True):
    """Of one lesson: the pairs, the most similar first, and how many more there were."""

    pairs: tuple[SimilarPair, ...]
    left_out: int


# --- fingerprints ----------------------------------------------------------------------------


def fingerprints(code: str) -> list[Spot] | None:
    """Those of a source, in its order; None if it is no Python that can be parsed."""
    try:
        if len(code.encode()) > MAX_BYTES:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a stray backslash, say
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    tokens = list(_tokens(tree))
    runs = [
        Spot(
            _checksum([token for token, _ in part]),
            min(line for _, line in part),
            max(line for _, line in part),
        )
        for part in (tokens[start : start + RUN] for start in range(len(tokens) - RUN + 1))
    ]
    return list(_winnowed(runs))


def _checksum(tokens: Sequence[str]) -> int:
    digest = hashlib.blake2b("\0".join(tokens).encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def _winnowed(runs: Sequence[Spot]) -> Iterator[Spot]:
    """The smallest of every `WINDOW` neighbours, the last such where several are equal."""
    kept: Spot | None = None
    for start in range(max(len(runs) - WINDOW + 1, min(len(runs), 1))):
        least = min(reversed(runs[start : start + WINDOW]), key=lambda spot: spot.print)
        if least is not kept:
            yield least
        kept = least


def _tokens(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Each node's type and line, in the order of the text, without what may be changed at will:
    names, constants, annotations, docstrings, imports."""
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    # A stack of our own: a tree may be deeper than Python calls functions.
    waiting: list[tuple[ast.AST, int]] = [(tree, 1)]
    while waiting:
        node, line = waiting.pop()
        line = getattr(node, "lineno", line)
        if node is not tree:
            yield _token(node, imported), line
        parts = [
            part
            for field in node._fields
            if field not in ("annotation", "returns", "ctx", "type_comment", "kind")
            for part in _nodes(getattr(node, field, None))
            if not _is_idle(part)
        ]
        waiting.extend((part, line) for part in reversed(parts))


def _token(node: ast.AST, imported: set[str]) -> str:
    name = type(node).__name__
    if isinstance(node, ast.Name) and node.id in imported:
        return f"{name} {node.id}"
    if isinstance(node, ast.Attribute) and _root(node) in imported:
        return f"{name} {node.attr}"
    return name


def _root(node: ast.AST) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _nodes(value: object) -> list[ast.AST]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, ast.AST)]


def _is_idle(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


# --- pairs -----------------------------------------------------------------------------------

Prints = NDArray[np.uint64]


def prints_of(spots: Sequence[Spot]) -> Prints:
    """The fingerprints alone, each once."""
    return np.unique(np.array([spot.print for spot in spots], np.uint64))


def compare(
    submissions: Sequence[Prints],
    starter: Prints,
    *,
    threshold: float = THRESHOLD,
    common: int = COMMON,
    most: int = MOST_PAIRS,
) -> Comparison:
    """The pairs of submissions that share much.

    **Arguments:** `starter`: what does not count; `threshold`: from which similarity on a pair is
    reported; `common`: by how many a fingerprint may be shared; `most`: how many pairs.

    **Returns:** the pairs; the similarity of two is twice what they share, of what they have.
    """
    owners = np.repeat(np.arange(len(submissions)), [len(prints) for prints in submissions])
    prints = np.concatenate([np.empty(0, np.uint64), *submissions])
    kept = ~np.isin(prints, starter)
    prints, owners = prints[kept], owners[kept]
    _, which, counts = np.unique(prints, return_inverse=True, return_counts=True)
    have = np.bincount(owners[counts[which] <= common], minlength=len(submissions))
    several = (counts[which] <= common) & (counts[which] > 1)
    which, owners = which[several], owners[several]
    order = np.lexsort((owners, which))
    which, owners = which[order], owners[order]
    codes, shared = np.unique(_codes(which, owners, len(submissions)), return_counts=True)
    a, b = np.divmod(codes, max(len(submissions), 1))
    similarity = 2 * shared / np.maximum(have[a] + have[b], 1)
    found = np.flatnonzero((similarity >= threshold) & (shared >= FEWEST))
    found = found[np.lexsort((codes[found], -shared[found], -similarity[found]))]
    pairs = tuple(
        SimilarPair(int(a[place]), int(b[place]), float(similarity[place]), int(shared[place]))
        for place in found[:most]
    )
    return Comparison(pairs, len(found) - len(pairs))


def _codes(which: NDArray[np.intp], owners: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Each two owners of one fingerprint as one number. Both arrays are sorted by fingerprint."""
    bounds = np.flatnonzero(np.diff(which, prepend=-1, append=-1))
    codes = [np.empty(0, np.intp)]
    for start, stop in pairwise(bounds):
        group = owners[start:stop]
        one, other = np.triu_indices(len(group), 1)
        codes.append(group[one] * count + group[other])
    return np.concatenate(codes)


def shared_lines(spots: Sequence[Spot], others: Prints) -> set[int]:
    """The lines of a source that stand for fingerprints which are among others."""
    among = set(others.tolist())
    return {
        line for spot in spots if spot.print in among for line in range(spot.first, spot.last + 1)
    }
