"""Similar submissions: pairs for a person to review.

The method is that of MOSS (Schleimer, Wilkerson, Aiken: Winnowing, SIGMOD 2003), applied to
Python's syntax tree instead of text. A submission becomes the sequence of its nodes' types, so
names, numbers, comments and layout do not count; imported names and their attributes (`jnp.mean`)
do, because a copier cannot rename those. Every `KGRAM` consecutive nodes are hashed, and the
smallest of `WINDOW` consecutive hashes is kept as a fingerprint. Code shared by two submissions is
noticed from `KGRAM + WINDOW - 1` nodes on, about two lines.

Fingerprints of the starter are ignored, as are those that more than `MAX_SHARING` submissions
share: a short exercise has few right answers, and a solution that ten others have was not copied
from one of them. That also bounds the work: a fingerprint yields at most `MAX_SHARING` pairs per
submission, so time grows with the number of submissions, not with its square.

No code is run. It is parsed if it is not too large; if the parser fails, it counts as unreadable.
"""

import ast
import hashlib
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

KGRAM = 10
WINDOW = 6
MAX_SHARING = 10
THRESHOLD = 0.6
"""The least share of the two submissions' fingerprints that are common to both."""

MIN_SHARED = 4
"""The least number of shared fingerprints: fewer are a line or two."""

MAX_PAIRS = 100
"""Pairs reported per lesson: a person has to review them all."""

MAX_BYTES = 64 << 10
"""Of source that is parsed. Up to this size the parser is fast even on hostile input."""


class Fingerprint(Struct, frozen=True):
    """A hash, and the lines that it covers."""

    hash: int
    first_line: int
    last_line: int


class SimilarPair(Struct, frozen=True):
    """Two submissions, by index, and how many fingerprints they share."""

    a: int
    b: int
    similarity: float
    shared: int


class Comparison(Struct, frozen=True):
    """The similar pairs of a lesson, most similar first, and the number of those left out."""

    pairs: tuple[SimilarPair, ...]
    left_out: int


# --- fingerprints ----------------------------------------------------------------------------


def fingerprints(code: str) -> list[Fingerprint] | None:
    """Return the fingerprints of a source in order; None if it cannot be parsed."""
    try:
        if len(code.encode()) > MAX_BYTES:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes, for example
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    tokens = list(_tokens(tree))
    kgrams = [
        Fingerprint(
            _hash([token for token, _ in part]),
            min(line for _, line in part),
            max(line for _, line in part),
        )
        for part in (tokens[start : start + KGRAM] for start in range(len(tokens) - KGRAM + 1))
    ]
    return list(_winnow(kgrams))


def _hash(tokens: Sequence[str]) -> int:
    digest = hashlib.blake2b("\0".join(tokens).encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def _winnow(kgrams: Sequence[Fingerprint]) -> Iterator[Fingerprint]:
    """Yield the smallest of every `WINDOW` consecutive hashes, the last one of equals."""
    kept: Fingerprint | None = None
    for start in range(max(len(kgrams) - WINDOW + 1, min(len(kgrams), 1))):
        least = min(reversed(kgrams[start : start + WINDOW]), key=lambda kgram: kgram.hash)
        if least is not kept:
            yield least
        kept = least


def _tokens(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each node's type and line in source order, without what a copier can change at will:
    names, constants, annotations, docstrings, imports."""
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    # An explicit stack: a tree may be deeper than Python's recursion limit.
    stack: list[tuple[ast.AST, int]] = [(tree, 1)]
    while stack:
        node, line = stack.pop()
        line = getattr(node, "lineno", line)
        if node is not tree:
            yield _token(node, imported), line
        children = [
            child
            for field in node._fields
            if field not in ("annotation", "returns", "ctx", "type_comment", "kind")
            for child in _nodes(getattr(node, field, None))
            if not _is_ignored(child)
        ]
        stack.extend((child, line) for child in reversed(children))


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


def _is_ignored(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


# --- pairs -----------------------------------------------------------------------------------

Hashes = NDArray[np.uint64]


def distinct_hashes(found: Sequence[Fingerprint]) -> Hashes:
    """Return the sorted, distinct hashes of fingerprints."""
    return np.unique(np.array([fingerprint.hash for fingerprint in found], np.uint64))


def compare(
    submissions: Sequence[Hashes],
    starter: Hashes,
    *,
    threshold: float = THRESHOLD,
    max_sharing: int = MAX_SHARING,
    max_pairs: int = MAX_PAIRS,
) -> Comparison:
    """Return the similar pairs; similarity is twice the shared fingerprints over the sum of both.

    **Arguments:** `starter`: ignored; `threshold`: the least similarity of a pair; `max_sharing`:
    fingerprints that more submissions share are ignored; `max_pairs`: more are left out.
    """
    owners = np.repeat(np.arange(len(submissions)), [len(hashes) for hashes in submissions])
    hashes = np.concatenate([np.empty(0, np.uint64), *submissions])
    kept = ~np.isin(hashes, starter)
    hashes, owners = hashes[kept], owners[kept]
    _, groups, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    sizes = np.bincount(owners[counts[groups] <= max_sharing], minlength=len(submissions))
    several = (counts[groups] <= max_sharing) & (counts[groups] > 1)
    groups, owners = groups[several], owners[several]
    order = np.lexsort((owners, groups))
    groups, owners = groups[order], owners[order]
    codes, shared = np.unique(_pair_codes(groups, owners, len(submissions)), return_counts=True)
    a, b = np.divmod(codes, max(len(submissions), 1))
    similarity = 2 * shared / np.maximum(sizes[a] + sizes[b], 1)
    found = np.flatnonzero((similarity >= threshold) & (shared >= MIN_SHARED))
    found = found[np.lexsort((codes[found], -shared[found], -similarity[found]))]
    pairs = tuple(
        SimilarPair(int(a[index]), int(b[index]), float(similarity[index]), int(shared[index]))
        for index in found[:max_pairs]
    )
    return Comparison(pairs, len(found) - len(pairs))


def _pair_codes(groups: NDArray[np.intp], owners: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return every two owners of a fingerprint as one integer; both arrays are sorted by group."""
    bounds = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))
    codes = [np.empty(0, np.intp)]
    for start, stop in pairwise(bounds):
        group = owners[start:stop]
        one, other = np.triu_indices(len(group), 1)
        codes.append(group[one] * count + group[other])
    return np.concatenate(codes)


def shared_lines(found: Sequence[Fingerprint], hashes: Hashes) -> set[int]:
    """Return the lines covered by fingerprints that are among `hashes`."""
    among = set(hashes.tolist())
    return {
        line
        for one in found
        if one.hash in among
        for line in range(one.first_line, one.last_line + 1)
    }
