"""How much of what goes wrong the hidden checks notice: mutants of the solution, killed or not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from tutor.authoring.trial import Outcome, Trial
from tutor.lesson import Lesson
from tutor.suggestions import nearest

if TYPE_CHECKING:
    from tutor.authoring.mutate import Mutant  # which needs LibCST

STRONG = 0.95
"""The share of mutants that a lesson must kill."""

SEEDS = (0, 1)
"""A mutant is killed if it fails under each of these: a check that notices now and then is weak."""

SEEDS_OF_EQUIVALENT = (0, 1, 2)
"""Under each of which one that is said to be right must pass."""


class Survivor(Struct, frozen=True):
    """A mutant that passes. `line` is that of the change in the solution, `seeds` those under which
    it passes."""

    mutant: str
    line: int
    diff: str
    seeds: tuple[int, ...]


class Strength(Struct, frozen=True):
    """What became of all mutants of a lesson's solution.

    `broke` counts those of the `killed` whose code raised, which any check would notice.
    `equivalent` are those that the lesson says are right, `stale` what is wrong in what it says of
    them. `stopped` took too long, twice: nothing is concluded from these, for it may be the machine
    that was busy. `killers` tells which check killed a mutant first; an empty name is that of the
    import.
    """

    mutants: int
    killed: int
    broke: int
    stopped: int
    equivalent: int
    survivors: tuple[Survivor, ...] = ()
    stale: tuple[str, ...] = ()
    killers: dict[str, str] = {}

    @property
    def rate(self) -> float:
        """The share that is killed of all that are wrong."""
        return self.killed / self.wrong if self.wrong else 1.0

    @property
    def wrong(self) -> int:
        """How many are wrong, as far as that is known."""
        return self.killed + len(self.survivors)

    @property
    def holds(self) -> bool:
        return self.rate >= STRONG and not self.stale


def trial_of(lesson: Lesson, mutant: "Mutant") -> Trial:
    """What to try of a mutant."""
    marked = any(mark.mutant == mutant.name for mark in lesson.equivalent)
    seeds = SEEDS_OF_EQUIVALENT if marked else SEEDS
    return Trial(lesson, "mutant", mutant.name, mutant.code, seeds)


def strength(lesson: Lesson, mutants: "Sequence[Mutant]", outcomes: Sequence[Outcome]) -> Strength:
    """Count. `outcomes` are those of the `mutants`, in their order."""
    # Those of idle answers are looked at where these are tried.
    marks = {m.mutant for m in lesson.equivalent if not m.mutant.startswith("idle@")}
    names = [mutant.name for mutant in mutants]
    stale = [
        f"{mark!r} is marked as equivalent, and there is no such mutant{nearest(mark, names)}; "
        "take the mark out, and see how the mutant is called if it survives now"
        for mark in marks - set(names)
    ]
    killed = broke = stopped = equivalent = 0
    survivors = []
    killers: dict[str, str] = {}
    for mutant, outcome in zip(mutants, outcomes, strict=True):
        passed = len(outcome.seeds)
        if outcome.timed_out:
            stopped += 1
            continue
        if mutant.name in marks and passed == outcome.tried:
            equivalent += 1
        elif passed:
            survivors.append(Survivor(mutant.name, mutant.line, mutant.diff, outcome.seeds))
        else:
            killed += 1
            killers[mutant.name] = outcome.check
            broke += outcome.verdict == "error"
        if mutant.name in marks and passed < outcome.tried:
            by = f" by {outcome.check!r}" if outcome.check else ""
            stale.append(
                f"{mutant.name!r} is marked as equivalent, and is killed{by}; take the mark out"
            )
    return Strength(
        len(mutants), killed, broke, stopped, equivalent,
        tuple(survivors), tuple(sorted(stale)), killers,
    )  # fmt: skip
