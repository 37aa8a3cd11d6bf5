"""The ledger: which keys an expression consumed, and on which lines.

The sandbox records every key that is drawn from, split or folded (`tutor.sandbox.key_recorder`);
what follows from it is concluded here. It covers what JAX's own checker misses: raw `PRNGKey`s, and
`fold_in` of the same number twice. A key may be split, or the same number folded into it, more than
once if every child is used once: a table of keys may well be made by
`fold_in(fold_in(key, epoch), step)`. If a child is used twice, the message names the lines that
made it twice. Keys are compared by their data, since the child of a split may be that of a
`fold_in`.
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
    of `jax.random` functions; `data` is the number that was folded in, and `key` the key that was
    used."""

    kind: Literal["random_bits", "random_split", "random_fold_in"]
    line: int
    call: int
    data: int | None = None
    key: tuple[int, ...] = ()


class Ledger:
    """The uses of each key, by its raw data, and the uses of others by which it was made."""

    def __init__(self) -> None:
        self.uses: defaultdict[tuple[int, ...], list[Use]] = defaultdict(list)
        self.origins: defaultdict[tuple[int, ...], list[Use]] = defaultdict(list)


def ledger(tree: Tree) -> Ledger:
    """Return the ledger that a sandbox recorded. Raises: TreeError: it is none."""
    rows = tree.array if isinstance(tree, Leaf) else None
    if rows is None or rows.ndim != 2 or rows.shape[1] != 4 + WORDS or rows.dtype.name != "int64":
        raise TreeError("expected the keys that were used")
    found, uses = Ledger(), dict[int, Use]()
    for number, (kind, line, call, data, *words) in enumerate(rows.tolist()):
        key = tuple(words)
        if kind == _CHILD and data in uses:
            found.origins[key].append(uses[data])
        elif 0 <= kind < _CHILD:
            folded = data if _KINDS[kind] == "random_fold_in" else None
            uses[number] = Use(_KINDS[kind], line, call, folded, key)
            found.uses[key].append(uses[number])
    return found


def key_data(key: Tree) -> set[tuple[int, ...]]:
    """Return the raw data of every key in an input, as the ledger holds it."""
    rows = [leaf.values.reshape(-1, leaf.values.shape[-1]) for _, leaf in leaves(key)]
    return {_padded(row) for array in rows for row in array.tolist()}


def _padded(words: list[int]) -> tuple[int, ...]:
    return (*words, *[-1] * (WORDS - len(words)))


def reused(ledger: Ledger) -> list[str]:
    """Describe the keys that were used twice: drawn from in two calls, or drawn from in one and
    split or folded in another.

    Several draws inside one call of a `jax.random` function are right: `poisson` draws repeatedly.
    """
    messages = []
    for key, uses in ledger.uses.items():
        drawn = [use for use in uses if use.kind == "random_bits"]
        other = [use for use in uses if use.kind != "random_bits"]
        other = [use for use in other if drawn and use.call != drawn[0].call]
        if len(_calls(drawn)) < 2 and not other:
            continue
        origins = _made_twice(ledger, key)
        if len(_calls(origins)) > 1 and _calls(origins) != _calls(uses):
            messages.append(_same_child(origins))
        elif len(_calls(drawn)) > 1:
            messages.append(_drawn_twice(drawn))
        else:
            verb = "splits" if other[0].kind == "random_split" else "folds a number into"
            messages.append(
                f"line {drawn[0].line} draws from the key that line {other[0].line} {verb}: "
                "draw from its children only"
            )
    return list(dict.fromkeys(messages))[:5]


def _calls(uses: list[Use]) -> set[int]:
    return {use.call for use in uses}


def _made_twice(ledger: Ledger, key: tuple[int, ...]) -> list[Use]:
    """Return the uses that made a key, or, if its parent was made as often, those that made the
    parent, and so on: a function that splits its key is right, and its caller gave it one twice."""
    origins = ledger.origins.get(key, [])
    while origins:
        above = ledger.origins.get(origins[0].key, [])
        if len(_calls(above)) < 2 or len(_calls(above)) != len(_calls(origins)):
            break
        origins = above
    return origins


def _same_child(uses: list[Use]) -> str:
    """Describe the uses of one key by which the same child was made."""
    folded = [use for use in uses if use.kind == "random_fold_in"]
    split = [use for use in uses if use.kind == "random_split"]
    if not split:
        return f"fold_in of {folded[0].data} into the same key twice ({_lines(uses)})"
    if folded:
        return (
            f"{_lines(split)} splits the key into which {_lines(folded)} folds {folded[0].data}: "
            "one of the children is the same"
        )
    if len({use.line for use in uses}) == 1:
        words = f"{_lines(uses)} splits the same key {len(uses)} times"
    else:
        words = f"{_lines(uses)} split the same key"
    return f"{words}: the children are the same each time"


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
