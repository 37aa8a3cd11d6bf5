"""Sandboxes that are waiting before they are wanted, primed for the lesson on the screen.

`Pool` keeps, in a thread of its own: a zygote for learners' sandboxes; for each lesson that is
expected a sandbox for every place that it needs, forked, isolated and primed; and PyTorch's
answers for it, so that PyTorch is not imported while somebody waits. A sandbox serves one run and
is replaced after it. How many wait depends on the cores and on the memory that is free, and after a
while without a sign of life all of it is given back.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from tutor import paths
from tutor.engine.plan import Configuration, configurations, plan, requests
from tutor.engine.references import References
from tutor.inputs.functions import DrawError
from tutor.lesson import Lesson
from tutor.pool.capacity import CORES, free_memory_mb
from tutor.pool.forks import Forks
from tutor.pool.priming import give, prime
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Cancelled, Failed, Sandbox

IDLE_SECONDS = 600.0
"""After so long without a run or a new lesson everything is given back."""

PATIENCE_SECONDS = 1.0
"""How long a run waits for a sandbox that is being primed to finish its step."""

LOOK_SECONDS = 5.0
"""How often the pool looks whether what waits is still alive, and still wanted."""

AMPLE_MB, SCARCE_MB = 3000, 1000
"""Free memory with which the next lesson is prepared as well; and without which none is."""


class Pool:
    """Sandboxes for learners, ahead of time. Use as a context manager, or `close` it. All methods
    may be called from any thread.

    **Arguments:** `cache`: the folder in which PyTorch's answers and compiled programs are
    remembered; `idle`: see `IDLE_SECONDS`.
    """

    def __init__(
        self,
        cache: Path | None = None,
        idle: float = IDLE_SECONDS,
    ) -> None:
        self._cache = cache or paths.cache()
        self._forks = Forks(self._cache)
        self._idle = idle
        self._change = threading.Condition()
        self._expected: list[_Expected] = []
        self._waiting: list[_Waiting] = []
        self._discarded: list[Sandbox] = []
        self._references: list[References] = []
        self._unprimed: set[tuple[str, Configuration, str]] = set()
        self._refused = False
        self._running = 0
        self._seen = time.monotonic()
        self._closed = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def expect(self, lessons: Iterable[tuple[Lesson, Sequence[str]]], seed: int = 0) -> None:
        """Which lessons are likely to be run next, the likeliest first, each with the codes to
        prime its sandboxes with: as soon as the first has been run, a sandbox can be taken.
        Replaces what was expected before."""
        with self._change:
            known = self._expected
            self._expected = [
                next(
                    (k for k in known if k.same(lesson, codes, seed)),
                    _Expected(lesson, tuple(codes), seed),
                )
                for lesson, codes in lessons
            ]
            for expected in self._expected:
                self._forks.known(expected.lesson, expected.codes, seed)
            self._refused = False
            self._sign_of_life()

    def awake(self) -> None:
        """Somebody is there: what was given back is made ready again. Costs next to nothing, so
        every key may say it."""
        if self._thread is not None and time.monotonic() - self._seen < self._idle:
            self._seen = time.monotonic()
            return
        with self._change:
            self._sign_of_life()

    def take(self, lesson: Lesson, place: Configuration) -> Sandbox:
        """See `tutor.engine.submission.Sandboxes`."""
        with self._change:
            self._running += 1
            self._sign_of_life()
            sandbox = self._ready_one(lesson, place)
        try:
            if sandbox is not None and _answers(sandbox):
                return sandbox
            return self._forks.take(lesson, place)
        except Failed:
            with self._change:
                self._running -= 1
            raise

    def release(self, sandbox: Sandbox) -> None:
        """See `tutor.engine.submission.Sandboxes`. Does not wait until the process has ended."""
        with self._change:
            self._running -= 1
            self._discarded.append(sandbox)
            self._sign_of_life()

    def reference(self) -> Sandbox:
        """See `tutor.engine.submission.Sandboxes`."""
        return self._forks.reference()

    def ready(self, lesson: Lesson, timeout: float) -> bool:
        """Wait until everything that a lesson needs is waiting, and primed with all there is.

        **Returns:** whether it is.
        """

        def all_there() -> bool:
            known = any(e.lesson == lesson and e.known for e in self._expected)
            return known and all(
                any(w.serves(lesson, place) and w.ready and not w.left for w in self._waiting)
                for place in configurations(lesson)
            )

        with self._change:
            return self._change.wait_for(all_there, timeout)

    def processes(self) -> dict[str, int]:
        """Process ids by what they are, for those who measure."""
        with self._change:
            found = {f"waiting {n}": w.sandbox.pid for n, w in enumerate(self._waiting)}
        for role in ("learner", "reference"):
            pid = self._forks.zygotes.pid(role)
            found |= {f"zygote {role}": pid} if pid is not None else {}
        return found

    def close(self) -> None:
        """End every process."""
        with self._change:
            self._closed = True
            for one in self._waiting:
                one.sandbox.kill()
            self._change.notify_all()
        self._forks.close()
        for references in self._references:
            references.cancel()
        if self._thread is not None:
            self._thread.join()
        for sandbox in [*self._discarded, *(one.sandbox for one in self._waiting)]:
            sandbox.close()

    def _ready_one(self, lesson: Lesson, place: Configuration) -> Sandbox | None:
        """With the lock held."""
        for one in [w for w in self._waiting if w.serves(lesson, place)]:
            one.wanted = True
            self._change.wait_for(lambda one=one: one.ready, PATIENCE_SECONDS)  # type: ignore[misc]
            one.wanted = False
            if one.ready and one in self._waiting:
                self._waiting.remove(one)
                return one.sandbox
        return None

    # --- the thread --------------------------------------------------------------------------

    def _sign_of_life(self) -> None:
        """With the lock held."""
        self._seen = time.monotonic()
        if self._thread is None and not self._closed:
            # It lives as long as the pool: the kernel ends its children with it.
            self._thread = threading.Thread(target=self._work, name="pool", daemon=True)
            self._thread.start()
        self._change.notify_all()

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._closed and (step := self._next()) is None:
                    self._change.wait(LOOK_SECONDS)
                if self._closed:
                    return
            assert step is not None
            step()

    def _next(self) -> Callable[[], None] | None:
        """What to do now, if anything; with the lock held."""
        if self._discarded:
            return self._discarded.pop().close
        if time.monotonic() - self._seen >= self._idle:
            return self._give_back if self._waiting or self._forks.zygotes.started else None
        wanted = self._wanted()
        for one in self._waiting:
            if (one.lesson, one.place) in wanted and one.sandbox.alive:
                wanted.remove((one.lesson, one.place))
            else:
                self._waiting.remove(one)
                return one.sandbox.close
        if self._refused or (self._running and CORES <= 2):
            return None  # who is being run needs the cores now
        if not self._forks.zygotes.started:
            return partial(self._forks.zygotes.start, "learner")
        for expected in self._expected:
            if not expected.asked:
                return partial(self._ask_reference, expected)
            for lesson, place in wanted:
                if lesson is expected.lesson:
                    return partial(self._prepare, expected, place)
        for expected in self._expected:
            for one in self._waiting:
                if one.lesson is expected.lesson and one.left:
                    return partial(self._prime, expected, one)
        return None

    def _wanted(self) -> list[tuple[Lesson, Configuration]]:
        """Which sandboxes should be waiting, as far as there is memory for them."""
        free = free_memory_mb()
        if free < SCARCE_MB:
            return []
        within = self._expected[: 1 if free < AMPLE_MB else None]
        wanted = [(e.lesson, place) for e in within for place in configurations(e.lesson)]
        if within and free >= AMPLE_MB and CORES > 2:
            # A second one, for who runs again before the first has been replaced.
            wanted.append((within[0].lesson, configurations(within[0].lesson)[0]))
        return wanted

    def _prepare(self, expected: "_Expected", place: Configuration) -> None:
        lesson = expected.lesson
        try:
            sandbox = self._forks.begin(lesson, place)
        except Failed:
            self._refused = True
            return
        one = _Waiting(lesson, place, sandbox)
        one.left = [
            code for code in expected.codes if (lesson.id, place, code) not in self._unprimed
        ]
        with self._change:
            self._waiting.append(one)
        self._prime(expected, one)

    def _prime(self, expected: "_Expected", one: "_Waiting") -> None:
        """Prime a sandbox with the next code that is left, or have it started if there is none."""
        with self._change:
            if one not in self._waiting:
                return
            one.ready = False
            code = one.left.pop(0) if one.left else None
        lesson, place = one.lesson, one.place
        try:
            prime(
                one.sandbox, lesson, place, code, expected.seed, self._forks.programs,
                lambda: one.wanted or self._closed,
            )  # fmt: skip
        except (Failed, DrawError):
            # Whatever it is, a run will tell; here it only means less of a start.
            if code is not None:
                self._unprimed.add((lesson.id, place, code))
            self._refused = code is None
            one.sandbox.kill()
        except Cancelled:
            pass
        with self._change:
            one.ready = True
            self._change.notify_all()

    def _ask_reference(self, expected: "_Expected") -> None:
        """Have PyTorch asked, in another thread, whatever is not remembered."""
        expected.asked = True
        try:
            asked = requests(expected.lesson, plan(expected.lesson, expected.seed))
        except DrawError:
            return  # a run will tell
        references = References(expected.lesson, asked, self._cache / "references", self.reference)

        def known() -> None:
            with self._change:
                expected.known = True
                self._references.remove(references)
                self._change.notify_all()

        self._references.append(references)
        references.start(known)

    def _give_back(self) -> None:
        self._forks.zygotes.stop()
        with self._change:
            for one in self._waiting:
                one.sandbox.kill()
                self._discarded.append(one.sandbox)
            self._waiting.clear()


def _answers(sandbox: Sandbox) -> bool:
    """Whether a sandbox that has been waiting still lives, and has nothing more to say of what it
    was primed with; if not, it is closed. What ends it from now on is the submission's doing."""
    try:
        give(sandbox, {}, Allowance(PATIENCE_SECONDS))
    except (Failed, Cancelled):
        sandbox.close()
        return False
    sandbox.forget_output()
    return True


class _Waiting:
    """A sandbox that is being prepared, or ready. `wanted`: a run waits for it; `left`: with what
    it could be primed further."""

    def __init__(self, lesson: Lesson, place: Configuration, sandbox: Sandbox) -> None:
        self.lesson = lesson
        self.place = place
        self.sandbox = sandbox
        self.ready = False
        self.wanted = False
        self.left: list[str] = []

    def serves(self, lesson: Lesson, place: Configuration) -> bool:
        return place == self.place and (lesson is self.lesson or lesson == self.lesson)


class _Expected:
    """A lesson that is likely to be run."""

    def __init__(self, lesson: Lesson, codes: tuple[str, ...], seed: int) -> None:
        self.lesson = lesson
        self.codes = codes
        self.seed = seed
        self.asked = False
        self.known = False

    def same(self, lesson: Lesson, codes: Sequence[str], seed: int) -> bool:
        return (self.codes, self.seed) == (tuple(codes), seed) and self.lesson == lesson
