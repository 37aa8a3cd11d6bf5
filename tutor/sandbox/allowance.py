"""How much time a run may take of one sandbox, and how much of it is spent.

Processor time counts, because a right answer needs the same amount of it however many others run
on the machine. It is measured from outside, in the process that waits for the answer. Code that
does not compute is stopped as well, after it has waited as long as a person would; and a limit
on the wall clock, far away, ends what the machine has no time for.
"""

import random
import time
from collections.abc import Callable
from typing import Literal

from tutor.sandbox.watchdog import Usage, idle_seconds

Overrun = Literal["computed", "waited", "starved", "lingered", "clock"]
"""Which limit was reached: of processor time; of time in which no thread computed or could have;
the wide one of wall-clock time, because others had all cores, or although they had not; or of
wall-clock time, where nothing else can be measured."""

IDLE_SECONDS = 30.0
"""The longest that a submission may wait without computing, however long it may compute."""

WIDE = 10
"""How many times its limit a run may take by the wall clock."""

WIDE_SECONDS = 60.0
"""How many seconds more than its limit that is at least."""

LOOK_SECONDS = 0.25
"""How often, on average, to look whether any thread computes."""

FREE = 0.5
"""Cores that are idle, on average, on a machine that has time for one process more."""

NEARLY = 0.9
"""Share of the time that tells by itself that code has computed all the while."""

UNSEEN_SECONDS = 1.0
"""The most that counts between two looks: if this process did not run for longer than that, or was
stopped, nothing is known of the sandbox either."""


class Allowance:
    """The time that one run may take of one sandbox, all that is asked of it together.

    `begin` whenever an answer is waited for, `look` again and again until it is there. Time counts
    only in between: not while this process judges, or waits for somebody else.

    **Arguments:** `seconds`: of processor time, all threads together. The limit holds only once so
    much time has passed as well: threads on many cores use it up faster, and no machine fails an
    answer that took no longer than that. `idle`: seconds of waiting; by default the same, but at
    most `IDLE_SECONDS`. `wall`: seconds in all, by default far more.
    """

    def __init__(
        self,
        seconds: float,
        *,
        idle: float | None = None,
        wall: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        cores: Callable[[], float | None] = idle_seconds,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.seconds = seconds
        self.idle_seconds = min(seconds, IDLE_SECONDS) if idle is None else idle
        self.wall_seconds = max(WIDE * seconds, seconds + WIDE_SECONDS) if wall is None else wall
        self.measured = True
        self.processor = 0.0
        self.idle = 0.0
        self.wall = 0.0
        self.compiling = 0.0
        self._clock = clock
        self._cores = cores
        self._draw = draw
        self._before: float | None = None
        self._began = 0.0
        self._idle_cores: float | None = None
        self._seen_at = self._due = 0.0
        self._sampled_at = 0.0
        self._sample = Usage(0, 0)

    @property
    def spent(self) -> float:
        """Seconds that count against the limit: of processor time, where it can be measured."""
        return self.processor if self.measured else self.wall

    @property
    def patience(self) -> float:
        """Seconds until the next look is due."""
        return max(0.0, self._due - self._clock())

    def begin(self, used: Usage) -> None:
        """Start to wait for an answer. `used`: by the sandbox, so far."""
        if self._before is None:
            self.measured = used.processor is not None
            self._before = used.processor or 0.0
            self._began, self._idle_cores = self._clock(), self._cores()
        self._seen_at = self._clock()
        self._plan(used)

    def look(self, used: Usage, active: Callable[[], bool]) -> Overrun | None:
        """Count what was spent since the last look.

        **Arguments:** `used`: by the sandbox, so far; `active`: see
        `tutor.sandbox.watchdog.active`; called only if needed.

        **Returns:** the limit that has been reached, if one has.
        """
        assert self._before is not None, "begin comes first"
        now = self._clock()
        self.wall += min(now - self._seen_at, UNSEEN_SECONDS)
        self._seen_at = now
        if used.processor is not None:
            self.processor = max(self.processor, used.processor - self._before)
        if self.measured and now >= self._due:
            self._sampled(used, now - self._sampled_at, active)
            self._plan(used)
        return self._overrun()

    def _sampled(self, used: Usage, elapsed: float, active: Callable[[], bool]) -> None:
        """Take this moment for all the time since the last one that was looked at.

        The kernel's own count of how long each thread has waited for a core would not do: a
        hundred threads that wake together wait for each other, which adds up to any share of the
        time. And no code can compute in just these moments, for it does not know them.
        """
        computed = (used.processor or 0.0) - (self._sample.processor or 0.0)
        if computed < NEARLY * elapsed and not active():
            self.idle += min(elapsed, UNSEEN_SECONDS)

    def _plan(self, used: Usage) -> None:
        now = self._clock()
        self._sample, self._sampled_at = used, now
        self._due = now + LOOK_SECONDS * (0.2 + 1.6 * self._draw())

    def _overrun(self) -> Overrun | None:
        if not self.measured:
            return "clock" if self.wall >= self.seconds else None
        if min(self.processor, self.wall) >= self.seconds:
            return "computed"
        if self.idle >= self.idle_seconds:
            return "waited"
        if self.wall < self.wall_seconds:
            return None
        return "lingered" if self._cores_were_free() else "starved"

    def _cores_were_free(self) -> bool:
        """Whether others kept no core from the code all the while. However a submission divides
        its time between its threads, it cannot have computed little because of others then."""
        idle, before = self._cores(), self._idle_cores
        if idle is None or before is None:
            return False
        return idle - before >= FREE * (self._clock() - self._began)
