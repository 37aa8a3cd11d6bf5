"""`compiles`: work is compiled once and as a whole."""

from collections import Counter
from typing import Annotated, ClassVar

from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr
from tutor.checks.agreement import otherwise
from tutor.foreign.plain_text import cut
from tutor.tree import Tree, entry, items, text


class Compiles(Check, frozen=True, kw_only=True):
    """Calls whose inputs differ only in their values need at most `at_most` compilations.

    The learner's process counts, so this is evidence, which can fail an answer but never proves it
    right: the lesson needs a value check, too.
    """

    kind: ClassVar[str] = "compiles"
    inside: ClassVar[str] = "tutor.checks.inside.compiles"
    structural: ClassVar[bool] = True
    default_cases: ClassVar[int] = 1

    compiles: Annotated[JaxExpr, Meta(description="The call, with inputs as its arguments.")]
    at_most: Annotated[int, Meta(ge=1, description="XLA programs over all calls.")] = 1
    calls: Annotated[
        int, Meta(ge=1, le=100, description="Number of calls, each with new inputs.")
    ] = 5

    @property
    def input_sets(self) -> int:
        return self.calls

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        series = items(entry(observed, "calls"))
        calls = [[text(name) for name in items(names)] for names in series]
        total = sum(map(len, calls))
        if total <= self.at_most:
            ordinary, watched = entry(observed, "value"), entry(observed, "watched")
            return otherwise(ordinary, watched, "watched for what it compiles")
        first, later = calls[0], [name for call in calls[1:] for name in call]
        allowed = "1 program" if self.at_most == 1 else f"{self.at_most} programs"
        if len(first) > self.at_most:
            return Finding(
                f"the first call compiled {len(first)} programs ({_some(first)}), expected at most "
                f"{allowed}: each function under jit is a program, and outside jit JAX compiles "
                "one operation at a time",
                code="compiled-in-pieces",
            )
        again = sum(1 for call in calls[1:] if call)
        return Finding(
            f"{total} compilations in {len(calls)} calls, expected at most {allowed}: "
            f"{again} later {'call' if again == 1 else 'calls'} compiled again ({_some(later)}) "
            "although only values changed",
            code="compiled-again",
        )

    def unseen(self, observed: Tree, case: Case) -> bool:
        return entry(observed, "heard") is None

    def evidence_of(self, observed: Tree) -> Tree:
        return entry(observed, "watched")


def _some(names: list[str]) -> str:
    counts = Counter(names)
    shown = [cut(n, 80) + (f" {k} times" if k > 1 else "") for n, k in counts.items()]
    more = f" and {len(shown) - 4} more" if len(shown) > 4 else ""
    return ", ".join(shown[:4]) + more
