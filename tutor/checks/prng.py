"""`prng`: randomness comes from a key, is reproducible, and no key is used twice."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from tutor.check import Case, Check, Finding, FindingCode, JaxExpr
from tutor.checks.agreement import otherwise
from tutor.checks.compare import compare
from tutor.checks.dependence import (
    FALSE_POSITIVE,
    MIN_CORRELATED,
    STRUCTURE,
    Sample,
    dependent,
    dependent_pairs,
    related_within,
    same_numbers,
)
from tutor.checks.drawn import Drawn, drawn_arrays, rows, vectors
from tutor.checks.ledger import drawn_in_both, key_data, ledger, reused
from tutor.foreign.plain_text import cut
from tutor.tree import Tree, entry, items, leaves, text

MAX_VECTORS = 600
"""Rows and columns of one length that are compared with each other, if they are long enough."""

MAX_SUSPECTS = 20
"""Pairs of these that are tested one by one."""

KEYS = 12
"""Keys to try. Code that picks one of a few seeds gives the same result for two of them."""

LOG_FALSE_POSITIVE = math.log(FALSE_POSITIVE)

_DEPENDENT: Mapping[str, FindingCode] = {"row": "rows-dependent", "column": "columns-dependent"}
"""Codes for two parts of one kind."""


class Prng(Check, frozen=True, kw_only=True):
    """The same key gives the same result and another key another one; no key is consumed twice;
    leaves (or rows) hold independent draws."""

    kind: ClassVar[str] = "prng"
    inside: ClassVar[str] = "tutor.checks.inside.prng"
    default_cases: ClassVar[int] = 1

    prng: Annotated[JaxExpr, Meta(description="An expression that draws from the key.")]
    key: Annotated[str, Meta(description="The input that is the key.")] = "key"
    varies: Annotated[
        Literal["some", "all", "kernels"],
        Meta(
            description="Which arrays must differ for another key: at least one, all, or those "
            "with two or more axes (kernels are random where biases may be zero)."
        ),
    ] = "some"
    independent: Annotated[
        tuple[Literal["leaves", "rows"], ...],
        Meta(description="What must be drawn independently: arrays, or rows and columns of each."),
    ] = ("leaves",)

    @property
    def input_sets(self) -> int:
        return KEYS

    def observe(self) -> dict[str, Any]:
        return {"expression": self.prng, "key": self.key}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        used = ledger(entry(observed, "uses"))
        for message in reused(used):
            return Finding(f"key used twice: {message}", code="key-reused")
        recorded = entry(observed, "recorded")
        if recorded is None and (checker := text(entry(observed, "checker"))):
            message = f"key used twice: jax.debug_key_reuse reports: {cut(checker, 500)}"
            return Finding(message, code="key-reused")
        first, again, other = (entry(observed, name) for name in ("first", "again", "other"))
        if mismatch := compare(first, again, 0.0):
            message = "the same key gave two different results"
            return Finding(message, mismatch, code="random-without-key")
        for value in [] if recorded is None else items(recorded):
            how = "run without jit, as to record its keys"
            if finding := otherwise(first, value, how):
                return finding
        arrays = drawn_arrays(first, other)
        given = key_data(case.inputs[self.key])
        if finding := self._constant(arrays, recorded is None or bool(given & used.uses.keys())):
            return finding
        if finding := _few_results([first, other, *items(entry(observed, "others"))]):
            return finding
        if finding := _counted_keys(first, entry(observed, "next")):
            return finding
        if any(not array.varies and not array.constant for array in arrays):
            # Tables of constants are right; draws from a key that never changes are not.
            for line in drawn_in_both(used, ledger(entry(observed, "other uses"))):
                return Finding(
                    f"{line} draws from a key that does not depend on `{self.key}`",
                    code="key-ignored",
                )
        random = [
            array for array in arrays if array.varies and not (array.constant or array.is_key)
        ]
        groups = [random] if "leaves" in self.independent else []
        if "rows" in self.independent:
            groups += [rows(array) for array in random]
        pairs = [pair for group in groups for pair in combinations(map(_Samples, group), 2)]
        judged = (_dependent(one, other, 2 * len(pairs)) for one, other in pairs)
        if finding := next(filter(None, judged), None):
            return finding
        return self._dependent_vectors(random)

    def unseen(self, observed: Tree, case: Case) -> bool:
        if entry(observed, "shown") is None:
            return False
        used = ledger(entry(observed, "uses")).uses.keys() & key_data(case.inputs[self.key])
        return entry(observed, "recorded") is None or not used

    def _dependent_vectors(self, random: list[Drawn]) -> Finding | None:
        """Test whether any row or column of an array depends on another one of any array."""
        groups: dict[int, list[tuple[int, Drawn]]] = {}
        for number, array in enumerate(random):
            for vector in vectors(array):
                groups.setdefault(vector.numbers.size, []).append((number, vector))
        for length, group in groups.items():
            if length < MIN_CORRELATED or len(group) < 2:
                continue
            group = group[:: -(-len(group) // MAX_VECTORS)]
            rate = FALSE_POSITIVE / 2 / len(groups)
            suspects = dependent_pairs([vector.numbers for _, vector in group], rate)
            pairs = len(group) * (len(group) - 1) // 2
            for i, j in suspects[:MAX_SUSPECTS]:
                kind = "rows" if group[i][0] == group[j][0] else "leaves"
                if kind in self.independent:
                    one, two = _Samples(group[i][1]), _Samples(group[j][1])
                    if finding := _dependent(one, two, 2 * pairs * len(groups)):
                        return finding
        return None

    def _constant(self, arrays: list[Drawn], used: bool) -> Finding | None:
        """Find arrays that do not depend on the key although they should; see `varies`.

        **Arguments:** `used`: whether the ledger saw the key being consumed.
        """
        same = sum(array.log_chance for array in arrays) < LOG_FALSE_POSITIVE
        if not any(array.varies for array in arrays) and (same or not used):
            return Finding("nothing in the result depends on the key", code="key-ignored")
        if all(array.constant for array in arrays) and any(
            array.suspiciously_constant for array in arrays
        ):
            return Finding("nothing in the result is random: all numbers of an array are the same")
        for array in arrays:
            kernel = self.varies == "kernels" and array.rank > 1
            if self.varies != "all" and not kernel:
                continue
            if not array.varies and array.log_chance < LOG_FALSE_POSITIVE:
                message = f"{array.name} is the same for two different keys"
                return Finding(message, code="key-ignored")
            if array.suspiciously_constant or (
                kernel and array.constant and array.numbers.size > 1
            ):
                return Finding(f"all numbers of {array.name} are the same", code="all-equal")
        return None


def _few_results(results: list[Tree]) -> Finding | None:
    """Find different keys that give the same result, beyond chance."""
    bytes_of = [
        {path: leaf.values.tobytes() for path, leaf in leaves(result) if leaf.array is not None}
        for result in results
    ]
    varying = {path for path in bytes_of[0] if len({one.get(path) for one in bytes_of}) > 1}
    names = {f"result{path}" if path else "the result" for path in varying}
    limit = math.log(FALSE_POSITIVE / math.comb(len(results), 2))
    for i, j in combinations(range(len(results)), 2):
        if not varying or any(bytes_of[i].get(path) != bytes_of[j].get(path) for path in varying):
            continue
        random = [one for one in drawn_arrays(results[i], results[j]) if one.name in names]
        if sum(array.log_chance for array in random) < limit:
            return Finding(
                f"two of {len(results)} different keys gave the same result: "
                "it must depend on the whole key"
            )
    return None


def _counted_keys(first: Tree, following: Tree) -> Finding | None:
    """Find an array that the next key gives for another leaf. Keys made by counting up, not by
    splitting, are also the next seed's keys."""
    arrays = drawn_arrays(first, following)
    name_of = {(a.others.shape, a.others.tobytes()): a.name for a in arrays}
    for array in arrays:
        if not array.varies or array.log_chance >= LOG_FALSE_POSITIVE:
            continue
        if name := name_of.get((array.numbers.shape, array.numbers.tobytes())):
            return Finding(
                f"{array.name} for one key equals {name} for the next one: keys made by counting "
                "up are also the keys of other seeds; use split or fold_in"
            )
    return None


class _Samples:
    """An array's numbers for both keys, with their ranks."""

    def __init__(self, array: Drawn) -> None:
        self.name, self.part = array.name, array.part
        self.sample, self.other = Sample(array.numbers), Sample(array.others)


def _dependent(one: _Samples, two: _Samples, comparisons: int) -> Finding | None:
    a, b = one.sample, two.sample
    r = dependent(a, b, FALSE_POSITIVE / comparisons)
    if not r:
        if same_numbers(a, b):
            return Finding(f"{one.name} and {two.name} hold the same numbers in another order")
        return None
    if related_within(a) or related_within(b):
        return None
    if dependent(a, two.other, STRUCTURE):
        return None  # they agree for different keys as well
    count = min(a.numbers.size, b.numbers.size)
    return Finding(
        f"{one.name} and {two.name} are not independent draws (rank correlation {r:.3f} of their "
        f"first {count} numbers): both come from the same key, or one from the other",
        code=_DEPENDENT.get(one.part if one.part == two.part else "", "draws-dependent"),
    )
