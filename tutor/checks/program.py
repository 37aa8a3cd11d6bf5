"""`program`: of what operations a function consists, and what it does with its buffers."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, field

from tutor.check import Case, Check, Finding, JaxExpr
from tutor.checks.agreement import otherwise
from tutor.foreign.plain_text import cut
from tutor.tree import Tree, entry, items, real, text

ENOUGH = 0.75
"""A loop that grows by some operations for a longer input grows by at least this share of them if
that length doubles. For lengths of which one is at least four times the other, an algorithm that
halves its input grows by half of them at most."""

OPAQUE = {"call_exported", "pure_callback", "io_callback", "ffi_call"}
"""Operations in which others may hide."""

SHOWN = 6
"""Operations named in a message."""


class Program(Check, frozen=True, kw_only=True):
    """The program that JAX traces has the right form.

    The learner's process looks at it, so this is evidence, which can fail an answer but never
    proves it right: the lesson needs a value check, too.
    """

    kind: ClassVar[str] = "program"
    inside: ClassVar[str] = "tutor.checks.inside.program"
    structural: ClassVar[bool] = True
    default_cases: ClassVar[int] = 1

    program: Annotated[
        JaxExpr, Meta(description="The call; its inputs of arrays become the arguments.")
    ]
    contains: Annotated[
        tuple[str, ...],
        Meta(description="Operations that must occur, such as scan; `scan | while` is either."),
    ] = ()
    lacks: Annotated[tuple[str, ...], Meta(description="Operations that must not occur.")] = ()
    steady: Annotated[
        dict[str, JaxExpr],
        Meta(
            description="Inputs to replace by shorter or longer ones, such as {xs: 'xs[:4]'}; the "
            "number of operations must not grow with the length."
        ),
    ] = field(default_factory=dict)
    donates: Annotated[
        tuple[str, ...],
        Meta(description="Inputs whose buffers the call must reuse; all others must stay."),
    ] = ()
    lives: Annotated[
        Literal["split", "replicated", "on one device"] | None,
        Meta(description="How the arrays of the result lie on the devices."),
    ] = None

    def observe(self) -> dict[str, Any]:
        return {
            "expression": self.program,
            "trace": bool(self.contains or self.lacks or self.steady),
            "steady": self.steady,
            # Names of inputs are expressions, too, so that the reader of packs knows them.
            "replaced": [*self.steady],
            "donates": [*self.donates],
            "lives": self.lives is not None,
        }

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        return (
            self._operations(observed)
            or self._growth(observed)
            or self._donation(observed)
            or self._places(observed)
            or self._otherwise(observed)
        )

    def _otherwise(self, observed: Tree) -> Finding | None:
        if not (self.contains or self.lacks or self.steady):
            return None
        compiled = entry(observed, "compiled")
        if compiled is None:
            return None
        ordinary, whole = entry(observed, "value"), entry(compiled, 0)
        return otherwise(ordinary, whole, "compiled as a whole")

    def unseen(self, observed: Tree, case: Case) -> bool:
        if not (self.contains or self.lacks or self.steady):
            return False
        opaque = OPAQUE & {*map(text, items(entry(observed, "operations")))}
        return bool(opaque) or entry(observed, "compiled") is None

    def evidence_of(self, observed: Tree) -> Tree:
        return entry(observed, "value")

    def _operations(self, observed: Tree) -> Finding | None:
        if not (self.contains or self.lacks):
            return None
        found = [cut(text(name), 60) for name in items(entry(observed, "operations"))]
        for wanted in self.contains:
            if not {one.strip() for one in wanted.split("|")} & {*found}:
                names = " or ".join(f"`{one.strip()}`" for one in wanted.split("|"))
                return Finding(
                    f"the program contains no {names}; its operations are {_some(found)}"
                )
        for name in self.lacks:
            if name in found:
                return Finding(f"the program contains `{name}`")
        return None

    def _growth(self, observed: Tree) -> Finding | None:
        if not self.steady:
            return None
        counts = sorted(real(entry(observed, name)) for name in ("size", "other size"))
        longer = real(entry(observed, "longer"))
        # A loop in Python leaves at least one operation for each of its rounds. Algorithms that
        # halve their input leave a few more for twice the length, and are right.
        grown = counts[1] - counts[0]
        if longer <= 0 or grown < longer:
            return None
        # From half its length to the whole, what halves its input grows once more. A loop grows by
        # as much as for all lengths below.
        if isinstance(observed, dict) and "twice size" in observed:
            again = real(observed["twice size"]) - counts[1]
            if again < ENOUGH * grown:
                return None
        changed = " and ".join(f"`{name}` grows by {longer:.0f}" for name in self.steady)
        return Finding(
            f"the program has {counts[0]:.0f} operations, and {counts[1]:.0f} if {changed}: "
            "a loop in Python is unrolled while JAX traces it"
        )

    def _donation(self, observed: Tree) -> Finding | None:
        if not self.donates:
            return None
        deleted = {text(name) for name in items(entry(observed, "deleted"))}
        for name in self.donates:
            if name not in deleted:
                return Finding(f"`{name}` is not donated: its arrays still exist after the call")
        for name in sorted(deleted - {*self.donates}):
            return Finding(f"`{cut(name, 100)}` is donated: its arrays are deleted by the call")
        return None

    def _places(self, observed: Tree) -> Finding | None:
        if self.lives is None:
            return None
        places = items(entry(observed, "places"))
        if not places:
            return Finding(f"the result has no JAX array, expected arrays that are {self.lives}")
        for place in places:
            path, how = (cut(text(one), 200) for one in items(place)[:2])
            if how != self.lives:
                return Finding(f"result{path} is {how}, expected {self.lives}")
        return None


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"`{name}`" for name in names[:SHOWN]) + more
