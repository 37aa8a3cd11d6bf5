"""Count how many mutants of the solution the hidden checks kill."""

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
"""A mutant is killed if it fails under each of these: a check that catches it by chance is weak."""

SEEDS_OF_EQUIVALENT = (0, 1, 2)
"""A mutant marked as equivalent must pass under each of these."""


class Survivor(Struct, frozen=True):
    """A mutant that passes under `seeds`. `line` is that of the change in the solution."""

    mutant: str
    line: int
    diff: str
    seeds: tuple[int, ...]


class Strength(Struct, frozen=True):
    """The results of all mutants of a lesson's solution.

    `broke` counts the `killed` ones that raised, which any check would catch. `equivalent` counts
    those that pass and are marked; `stale` lists marks that are wrong. `stopped` took too long
    twice and are not counted: the machine may have been busy. `killers` gives the check that killed
    each mutant, empty for one that could not be imported.
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
        """The share of wrong mutants that are killed."""
        return self.killed / self.wrong if self.wrong else 1.0

    @property
    def wrong(self) -> int:
        """The number of mutants known to be wrong."""
        return self.killed + len(self.survivors)

    @property
    def holds(self) -> bool:
        return self.rate >= STRONG and not self.stale


def trial_of(lesson: Lesson, mutant: "Mutant") -> Trial:
    """Return the trial of a mutant."""
    marked = any(mark.mutant == mutant.name for mark in lesson.equivalent)
    seeds = SEEDS_OF_EQUIVALENT if marked else SEEDS
    return Trial(lesson, "mutant", mutant.name, mutant.code, seeds)


def strength(lesson: Lesson, mutants: "Sequence[Mutant]", outcomes: Sequence[Outcome]) -> Strength:
    """Return the counts. `outcomes` are those of the `mutants`, in their order."""
    # Marks of idle answers are verified in their own trials.
    marks = {m.mutant for m in lesson.equivalent if not m.mutant.startswith("idle@")}
    names = [mutant.name for mutant in mutants]
    stale = [
        f"{mark!r} is marked as equivalent, but there is no such mutant{nearest(mark, names)}; "
        "remove the mark, or use the mutant's present name if it survives"
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
                f"{mutant.name!r} is marked as equivalent but is killed{by}; remove the mark"
            )
    return Strength(
        len(mutants), killed, broke, stopped, equivalent,
        tuple(survivors), tuple(sorted(stale)), killers,
    )  # fmt: skip
