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
from collections.abc import Mapping

from msgspec import Struct

from tutor.sandbox.conventions import KEY_USES, KEY_WORDS
from tutor.tree import Leaf, Tree, TreeError, leaves

_CHILD = len(KEY_USES)

MAX_ANCESTORS = 100
"""Keys above another one that are looked at: what a sandbox sends may be a circle."""

MAX_REUSED = 5
"""Messages about keys that were used twice."""


class Use(Struct, frozen=True):
    """One use of one key. `line` is in the learner's code (0 if unknown); `call` numbers the calls
    of `jax.random` functions; `data` is the number that was folded in, and `key` the key that was
    used."""

    kind: str  # of `KEY_USES`
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
    width = 4 + KEY_WORDS
    if rows is None or rows.ndim != 2 or rows.shape[1] != width or rows.dtype.name != "int64":
        raise TreeError("expected the keys that were used")
    found, uses = Ledger(), dict[int, Use]()
    for number, (kind, line, call, data, *words) in enumerate(rows.tolist()):
        key = tuple(words)
        if kind == _CHILD and data in uses:
            found.origins[key].append(uses[data])
        elif 0 <= kind < _CHILD:
            folded = data if KEY_USES[kind] == "random_fold_in" else None
            uses[number] = Use(KEY_USES[kind], line, call, folded, key)
            found.uses[key].append(uses[number])
    return found


def key_data(key: Tree) -> set[tuple[int, ...]]:
    """Return the raw data of every key in an input, as the ledger holds it."""
    rows = [leaf.values.reshape(-1, leaf.values.shape[-1]) for _, leaf in leaves(key)]
    return {_padded(row) for array in rows for row in array.tolist()}


def _padded(words: list[int]) -> tuple[int, ...]:
    return (*words, *[-1] * (KEY_WORDS - len(words)))


def reused(ledger: Ledger) -> list[str]:
    """Describe the keys that were used twice: drawn from in two calls, or drawn from in one and
    split or folded in another.

    Several draws inside one call of a `jax.random` function are right: `poisson` draws repeatedly.
    """
    messages: dict[str, None] = {}
    makers = {key: _calls(origins) for key, origins in ledger.origins.items()}
    for key, uses in ledger.uses.items():
        drawn = [use for use in uses if use.kind == "random_bits"]
        other = [use for use in uses if use.kind != "random_bits"]
        other = [use for use in other if drawn and use.call != drawn[0].call]
        if len(_calls(drawn)) < 2 and not other:
            continue
        origins = _made_twice(ledger, makers, key)
        if len(_calls(origins)) > 1 and _calls(origins) != _calls(uses):
            messages[_same_child(origins)] = None
        elif len(_calls(drawn)) > 1:
            messages[_drawn_twice(drawn)] = None
        else:
            verb = "splits" if other[0].kind == "random_split" else "folds a number into"
            messages[
                f"line {drawn[0].line} draws from the key that line {other[0].line} {verb}: "
                "draw from its children only"
            ] = None
        if len(messages) == MAX_REUSED:
            break
    return [*messages]


def _calls(uses: list[Use]) -> set[int]:
    return {use.call for use in uses}


def _made_twice(
    ledger: Ledger, makers: Mapping[tuple[int, ...], set[int]], key: tuple[int, ...]
) -> list[Use]:
    """Return the uses that made a key, or, if its parent was made as often, those that made the
    parent, and so on: a function that splits its key is right, and its caller gave it one twice."""
    origins = ledger.origins.get(key, [])
    for _ in range(MAX_ANCESTORS if origins else 0):
        parent = origins[0].key
        above = len(makers.get(parent, ()))
        if above < 2 or above != len(makers[key]):
            break
        key, origins = parent, ledger.origins[parent]
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
