"""Meter the time that a run spends in one sandbox.

The main limit is on processor time, of which a right answer needs the same amount however busy the
machine is. The process that waits for the answer measures it from outside. Code that does not
compute is stopped after the longest that a person would wait; a distant wall-clock limit ends runs
for which the machine has no time.
"""

import random
import time
from collections.abc import Callable
from typing import Literal

from tutor.sandbox.limits import MAX_IDLE_SECONDS, WALL_EXTRA_SECONDS, WALL_FACTOR
from tutor.sandbox.watchdog import Usage, idle_seconds

Overrun = Literal["computed", "waited", "starved", "lingered", "clock"]
"""The limit that was reached: processor time (`computed`); time without a runnable thread
(`waited`); wall-clock time, with cores free (`lingered`) or not (`starved`); wall-clock time
where processor time cannot be measured (`clock`)."""

SAMPLE_SECONDS = 0.25
"""Average time between two samples of whether any thread computes."""

FREE_CORES = 0.5
"""Average number of idle cores with which one more process gets a core whenever it wants one."""

BUSY_SHARE = 0.9
"""Share of processor time in elapsed time from which code has been computing throughout."""

MAX_GAP_SECONDS = 1.0
"""Most time that counts between two samples. If more has passed, this process did not run, and
perhaps the sandbox did not either."""


class Allowance:
    """The time that one run may spend in one sandbox, over all its requests.

    Call `begin` before waiting for an answer, and `look` repeatedly until it arrives. Time counts
    only in between: not while this process judges or waits for anything else.

    **Arguments:** `seconds`: limit on processor time of all threads. It holds only once as much
    wall-clock time has passed: threads on many cores spend it faster, and no machine may fail an
    answer that took no longer. `idle`: limit on idle time, by default `seconds` but at most
    `MAX_IDLE_SECONDS`. `wall`: limit on wall-clock time, by default far more.
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
        self.idle_seconds = min(seconds, MAX_IDLE_SECONDS) if idle is None else idle
        if wall is None:
            wall = max(WALL_FACTOR * seconds, seconds + WALL_EXTRA_SECONDS)
        self.wall_seconds = wall
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
        self._looked_at = self._due = 0.0
        self._sampled_at = 0.0
        self._sample = Usage(0, 0)

    @property
    def spent(self) -> float:
        """Seconds that count against the limit: processor time if it can be measured."""
        return self.processor if self.measured else self.wall

    @property
    def patience(self) -> float:
        """Seconds until the next sample is due."""
        return max(0.0, self._due - self._clock())

    def begin(self, used: Usage) -> None:
        """Start waiting for an answer. `used` is the sandbox's usage so far."""
        if self._before is None:
            self.measured = used.processor is not None
            self._before = used.processor or 0.0
            self._began, self._idle_cores = self._clock(), self._cores()
        self._looked_at = self._clock()
        self._plan(used)

    def look(self, used: Usage, active: Callable[[], bool]) -> Overrun | None:
        """Count the time since the last look.

        **Arguments:** `used`: the sandbox's usage so far; `active`: as
        `tutor.sandbox.watchdog.active`, called only if needed.

        **Returns:** the limit that has been reached, if any.
        """
        assert self._before is not None, "call begin first"
        now = self._clock()
        self.wall += min(now - self._looked_at, MAX_GAP_SECONDS)
        self._looked_at = now
        if used.processor is not None:
            self.processor = max(self.processor, used.processor - self._before)
        if self.measured and now >= self._due:
            self._take_sample(used, now - self._sampled_at, active)
            self._plan(used)
        return self._overrun()

    def _take_sample(self, used: Usage, elapsed: float, active: Callable[[], bool]) -> None:
        """Let this moment stand for the time since the last sample.

        The kernel's count of how long threads have waited for a core would not do: a hundred
        threads that wake together wait for each other, which adds up to any share of the time.
        Samples are at random, so that code cannot compute just when it is watched.
        """
        computed = (used.processor or 0.0) - (self._sample.processor or 0.0)
        if computed < BUSY_SHARE * elapsed and not active():
            self.idle += min(elapsed, MAX_GAP_SECONDS)

    def _plan(self, used: Usage) -> None:
        now = self._clock()
        self._sample, self._sampled_at = used, now
        self._due = now + SAMPLE_SECONDS * (0.2 + 1.6 * self._draw())

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
        """Return whether a core was free throughout. Then other processes cannot be why the
        submission computed so little, however it divides its time between threads."""
        idle, before = self._cores(), self._idle_cores
        if idle is None or before is None:
            return False
        return idle - before >= FREE_CORES * (self._clock() - self._began)
