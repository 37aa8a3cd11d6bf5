"""What the pool keeps: sandboxes that wait for a run, and the lessons that they are for."""

from collections.abc import Sequence
from typing import NamedTuple

from tutor.engine.plan import Configuration, configurations
from tutor.lesson import Lesson
from tutor.pool.capacity import CORES, free_memory_mb
from tutor.sandbox.process import Sandbox

AMPLE_MB, SCARCE_MB = 3000, 1000
"""Free memory above which the next lesson is prepared, too; and below which none is."""


class Key(NamedTuple):
    """What kept programs depend on."""

    lesson: Lesson
    configuration: Configuration
    seed: int


class WarmSandbox:
    """A sandbox that is being primed, or ready.

    `wanted`: a run waits for it; `left`: codes that it has not been primed with yet; `primed`: with
    how many it was; `current`: it has all kept programs of the learner.
    """

    def __init__(self, lesson: Lesson, configuration: Configuration, sandbox: Sandbox) -> None:
        self.lesson = lesson
        self.configuration = configuration
        self.sandbox = sandbox
        self.ready = False
        self.wanted = False
        self.left: list[str] = []
        self.primed = 0
        self.current = False

    def serves(self, lesson: Lesson, configuration: Configuration) -> bool:
        """Return whether a run of this lesson, in this configuration, may use it."""
        return configuration == self.configuration and (
            lesson is self.lesson or lesson == self.lesson
        )


class ExpectedLesson:
    """A lesson that is likely to be run.

    `codes`: to prime with; `asked`: PyTorch has been asked for its answers, which are cached once
    `known`; `raced`: it has been timed, or is being timed.
    """

    def __init__(self, lesson: Lesson, codes: tuple[str, ...], seed: int) -> None:
        self.lesson = lesson
        self.codes = codes
        self.seed = seed
        self.asked = False
        self.raced = False
        self.known = False

    def same(self, lesson: Lesson, codes: Sequence[str], seed: int) -> bool:
        """Return whether what is known of it still holds."""
        return (self.codes, self.seed) == (tuple(codes), seed) and self.lesson == lesson


def needed(expected: Sequence[ExpectedLesson]) -> list[tuple[Lesson, Configuration]]:
    """Return which sandboxes should be warm for lessons, the most likely first, as far as there is
    memory for them."""
    free = free_memory_mb()
    if free < SCARCE_MB:
        return []
    within = expected[: 1 if free < AMPLE_MB else None]
    wanted = [(e.lesson, one) for e in within for one in configurations(e.lesson)]
    if within and free >= AMPLE_MB and CORES > 1:
        # A second one, for a run that comes before the first is replaced: it takes 0.5 s in
        # vmap-basics, in a sandbox that is forked for it 1.3 s.
        wanted.append((within[0].lesson, configurations(within[0].lesson)[0]))
    return wanted
