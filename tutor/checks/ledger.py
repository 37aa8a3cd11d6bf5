"""The ledger: which keys an expression consumed, and on which lines.

The sandbox records every key that is drawn from, split or folded (`tutor.sandbox.key_recorder`);
what follows from it is concluded here. It covers what JAX's own checker misses: raw `PRNGKey`s, and
`fold_in` of the same number twice. A key may be split twice in the same way if every child is used
once; if one is used twice, the message names the splits.
"""

from collections import defaultdict
from typing import Any, Literal

from msgspec import Struct

from tutor.tree import Leaf, Tree, TreeError, leaves

_KINDS: tuple[Any, ...] = ("random_bits", "random_split", "random_fold_in")
_CHILD = len(_KINDS)

WORDS = 4
"""Numbers in the data of a key: shorter ones are filled up with -1."""


class Use(Struct, frozen=True):
    """One use of one key. `line` is in the learner's code (0 if unknown); `call` numbers the calls
    of `jax.random` functions; `data` is the number that was folded in."""

    kind: Literal["random_bits", "random_split", "random_fold_in"]
    line: int
    call: int
    data: int | None = None


class Ledger:
    """The uses of each key, by its raw data, and the splits from which it came."""

    def __init__(self) -> None:
        self.uses: defaultdict[tuple[int, ...], list[Use]] = defaultdict(list)
        self.origins: defaultdict[tuple[int, ...], list[Use]] = defaultdict(list)


def ledger(tree: Tree) -> Ledger:
    """Return the ledger that a sandbox recorded. Raises: TreeError: it is none."""
    rows = tree.array if isinstance(tree, Leaf) else None
    if rows is None or rows.ndim != 2 or rows.shape[1] != 4 + WORDS or rows.dtype.name != "int64":
        raise TreeError("expected the keys that were used")
    found = Ledger()
    for kind, line, call, data, *words in rows.tolist():
        key = tuple(words)
        if kind == _CHILD:
            found.origins[key].append(Use("random_split", line, call))
        elif 0 <= kind < _CHILD:
            folded = data if _KINDS[kind] == "random_fold_in" else None
            found.uses[key].append(Use(_KINDS[kind], line, call, folded))
    return found


def key_data(key: Tree) -> set[tuple[int, ...]]:
    """Return the raw data of every key in an input, as the ledger holds it."""
    rows = [leaf.values.reshape(-1, leaf.values.shape[-1]) for _, leaf in leaves(key)]
    return {_padded(row) for array in rows for row in array.tolist()}


def _padded(words: list[int]) -> tuple[int, ...]:
    return (*words, *[-1] * (WORDS - len(words)))


def reused(ledger: Ledger) -> list[str]:
    """Describe the keys that were consumed twice.

    Several draws inside one call of a `jax.random` function are right: `poisson` draws repeatedly.
    """
    messages = []
    for key, uses in ledger.uses.items():
        drawn = [use for use in uses if use.kind == "random_bits"]
        splits = ledger.origins.get(key, [])
        if len({use.call for use in uses}) > 1 and len({use.call for use in splits}) > 1:
            # The uses are right: the key exists twice because its parent was split twice.
            messages.append(f"{_split_twice(splits)}: the children are the same each time")
            continue
        if len({use.call for use in drawn}) > 1:
            messages.append(_drawn_twice(drawn))
        for kind, verb in (("random_split", "splits"), ("random_fold_in", "folds a number into")):
            other = [use for use in uses if use.kind == kind]
            if drawn and other and other[0].call != drawn[0].call:
                messages.append(
                    f"line {drawn[0].line} draws from the key that line {other[0].line} {verb}: "
                    "draw from its children only"
                )
        folded: dict[int, list[Use]] = defaultdict(list)
        for use in uses:
            if use.kind == "random_fold_in" and use.data is not None:
                folded[use.data].append(use)
        for data, repeated in folded.items():
            if len(repeated) > 1:
                messages.append(f"fold_in of {data} into the same key twice ({_lines(repeated)})")
    return list(dict.fromkeys(messages))[:5]


def _split_twice(uses: list[Use]) -> str:
    if len({use.line for use in uses}) == 1:
        return f"{_lines(uses)} splits the same key {len(uses)} times"
    return f"{_lines(uses)} split the same key"


def _drawn_twice(uses: list[Use]) -> str:
    if len({use.line for use in uses}) == 1:
        return f"{_lines(uses)} draws {len(uses)} times from the same key"
    return f"{_lines(uses)} draw from the same key"


def _lines(uses: list[Use]) -> str:
    numbers = sorted({use.line for use in uses})
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def drawn_in_both(one: Ledger, other: Ledger) -> list[str]:
    """Return the lines that drew from the same key in both runs."""
    uses = [use for key in one.uses.keys() & other.uses.keys() for use in one.uses[key]]
    drawn = sorted({use.line for use in uses if use.kind == "random_bits"})
    return [f"line {line}" for line in drawn if line][:5]
