"""Warm sandboxes, primed for the lesson on the screen before a run needs them.

A thread of the `Pool` maintains a zygote for learners' sandboxes; for each expected lesson, one
sandbox per configuration, forked, isolated and primed; and PyTorch's answers, so that no learner
waits for the import of PyTorch. A sandbox serves one run and is then replaced. How many are kept
warm depends on cores and free memory. After ten idle minutes everything is released.

Runs of one learner's own code follow each other here, so what a run compiled is kept for the next
(`tutor.pool.kept`). No sandbox has run that code before: what code changes in its process cannot
all be seen, and would change the next verdict.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from tutor.engine.ahead import AheadAnswers
from tutor.engine.plan import Configuration, configurations
from tutor.inputs.drawing import DrawError
from tutor.lesson import Lesson
from tutor.pool.capacity import CORES, free_memory_mb
from tutor.pool.forks import Forks
from tutor.pool.kept import KeptPrograms, collect
from tutor.pool.priming import give, prime
from tutor.pool.torch_answers import TorchAnswers
from tutor.pool.warm_sandbox import ExpectedLesson, Key, WarmSandbox, needed
from tutor.requirements import unmet
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Cancelled, Failed, Lost, Sandbox
from tutor.storage import paths

IDLE_SECONDS = 600.0
"""Seconds without a run, a key or a new lesson after which everything is released."""

PATIENCE_SECONDS = 1.0
"""Seconds that a run waits for a sandbox that is being primed to finish its step."""

LOOK_SECONDS = 5.0
"""Seconds between two looks at whether warm sandboxes are alive and still needed."""

BLAMED = 4
"""How much blame keeps a code from being primed with: that of breaking a sandbox once, of two
failures that may have come from outside, or of four zygotes that ended meanwhile."""

_OUTSIDE = {"busy-machine", "killed", "no-sandbox"}
"""Faults that the code need not have caused."""

_logger = logging.getLogger(__name__)


class Pool:
    """Warm sandboxes (see `tutor.engine.sandboxes.Sandboxes`). A context manager; all methods may
    be called from any thread.

    **Arguments:** `cache`: the directory for PyTorch's answers and compiled programs; `fresh`:
    whether to use nothing that the learner's earlier runs left.
    """

    def __init__(self, cache: Path | None = None, *, fresh: bool = False) -> None:
        self._cache = cache or paths.cache()
        self._kept = None if fresh else KeptPrograms(self._cache / "own-programs")
        self._ran: set[str] = set()
        self._taken: dict[Sandbox, Key] = {}
        self._forks = Forks(self._cache)
        self.idle = IDLE_SECONDS
        self._change = threading.Condition()
        self._torch = TorchAnswers(self._cache / "references", self.reference, self._change)
        self._expected: list[ExpectedLesson] = []
        self._waiting: list[WarmSandbox] = []
        self._discarded: list[Sandbox] = []
        self._failed: Counter[tuple[str, Configuration, str]] = Counter()
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
        """Set which lessons are likely to be run next, most likely first, each with the codes to
        prime its sandboxes with. A sandbox can be taken as soon as it has run the first code. Those
        that would be skipped need none."""
        lessons = [one for one in lessons if not unmet(one[0].requires)]
        with self._change:
            known = self._expected
            self._expected = [
                next(
                    (k for k in known if k.same(lesson, codes, seed)),
                    ExpectedLesson(lesson, tuple(codes), seed),
                )
                for lesson, codes in lessons
            ]
            _logger.debug("expecting %s", [expected.lesson.id for expected in self._expected])
            for expected in self._expected:
                self._forks.use_programs(expected.lesson, expected.codes, seed)
            self._refused = False
            self._touch()

    def keep_alive(self) -> None:
        """Reset the idle time, and prepare again what was released. Cheap enough for every key."""
        if self._thread is not None and time.monotonic() - self._seen < self.idle:
            self._seen = time.monotonic()
            return
        with self._change:
            self._touch()

    def ran(self, lesson: Lesson) -> None:
        """Keep what a run has compiled for the sandboxes of the next runs. Call this before its own
        are released, from the thread that uses them."""
        with self._change:
            self._ran.add(lesson.id)
            used = [*self._taken.items()]
        if self._kept is None:
            return
        for sandbox, key in used:
            collect(self._kept, sandbox, *key)
            with self._change:
                for one in self._waiting:
                    if one.serves(*key[:2]):
                        one.current = False

    def take(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        with self._change:
            self._running += 1
            self._touch()
            one = self._ready_one(lesson, configuration)
            key = Key(lesson, configuration, self._seed_of(lesson))
        try:
            sandbox = self._warmed(one, key) if one is not None else None
            if sandbox is None:
                _logger.debug("%s: none is warm for %s", lesson.id, configuration)
                sandbox = self._forks.take(lesson, configuration)
                if not self._give_kept(sandbox, key):
                    sandbox = self._forks.take(lesson, configuration)
            with self._change:
                self._taken[sandbox] = key
            return sandbox
        except Failed:
            with self._change:
                self._running -= 1
            raise

    def release(self, sandbox: Sandbox) -> None:
        """Take back a sandbox, without waiting for its process to end."""
        with self._change:
            self._running -= 1
            self._taken.pop(sandbox, None)
            self._discarded.append(sandbox)
            self._touch()

    def reference(self) -> Sandbox:
        return self._forks.reference()

    def ready(self, lesson: Lesson, timeout: float) -> bool:
        """Wait until all sandboxes that a lesson needs are fully primed, and return whether they
        are."""

        def all_there() -> bool:
            known = any(e.lesson == lesson and e.known for e in self._expected)
            return known and all(
                any(
                    w.serves(lesson, configuration) and w.ready and not w.left
                    for w in self._waiting
                )
                for configuration in configurations(lesson)
            )

        with self._change:
            return self._change.wait_for(all_there, timeout)

    def processes(self) -> dict[str, int]:
        """Return process ids by role, for benchmarks."""
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
        self._torch.cancel()
        if self._thread is not None:
            self._thread.join()
        for sandbox in [*self._discarded, *(one.sandbox for one in self._waiting)]:
            sandbox.close()

    def _warmed(self, one: WarmSandbox, key: Key) -> Sandbox | None:
        """Return a waiting sandbox, if it can serve a run."""
        sandbox = one.sandbox
        if not _answers(sandbox) or not (one.current or self._give_kept(sandbox, key)):
            return None
        _logger.debug("%s: using warm pid %d", key.lesson.id, sandbox.pid)
        return sandbox

    def _ready_one(self, lesson: Lesson, configuration: Configuration) -> WarmSandbox | None:
        """Return a warm sandbox if there is one: one that is ready, and of these the oldest, which
        is primed with the most codes. Call with the lock held."""
        serving = [w for w in self._waiting if w.serves(lesson, configuration)]
        for one in sorted(serving, key=lambda one: not one.ready):
            one.wanted = True
            self._change.wait_for(lambda one=one: one.ready, PATIENCE_SECONDS)  # type: ignore[misc]
            one.wanted = False
            if one.ready and one in self._waiting:
                self._waiting.remove(one)
                return one
        return None

    # --- the thread --------------------------------------------------------------------------

    def _touch(self) -> None:
        """Reset the idle time; start the thread if it is not running. Call with the lock held."""
        self._seen = time.monotonic()
        if self._thread is None and not self._closed:
            # It lives as long as the pool: the kernel kills its children with it.
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
        """Return what to do now, if anything. Call with the lock held."""
        if self._discarded:
            return self._discarded.pop().close
        if time.monotonic() - self._seen >= self.idle:
            return self._release_all if self._waiting or self._forks.zygotes.started else None
        wanted = needed(self._expected)
        for one in self._waiting:
            if (one.lesson, one.configuration) in wanted and one.sandbox.alive:
                wanted.remove((one.lesson, one.configuration))
            else:
                self._waiting.remove(one)
                return one.sandbox.close
        if self._refused or (self._running and CORES <= 2):
            return None  # leave the cores to the run
        if not self._forks.zygotes.started:
            return partial(self._forks.zygotes.start, "learner")
        for expected in self._expected:
            if not expected.asked:
                return partial(self._torch.ask, expected)
            for lesson, configuration in wanted:
                if lesson is expected.lesson:
                    return partial(self._prepare, expected, configuration)
        for expected in self._expected:
            for one in self._waiting:
                if one.lesson is expected.lesson and one.left:
                    return partial(self._prime, expected, one)
        if self._expected and not self._expected[0].raced:
            return partial(self._torch.ask_race, self._expected[0])
        return None

    def _prepare(self, expected: ExpectedLesson, configuration: Configuration) -> None:
        lesson = expected.lesson
        try:
            sandbox = self._forks.start(lesson, configuration)
        except Failed as failure:
            _logger.debug("%s: cannot prepare: %s", lesson.id, failure.fault.code)
            self._refused = True
            return
        _logger.debug("%s: preparing pid %d, %d MiB free", lesson.id, sandbox.pid, free_memory_mb())
        one = WarmSandbox(lesson, configuration, sandbox)
        with self._change:
            one.left = self._codes(expected, configuration)
            self._waiting.append(one)
        self._prime(expected, one)

    def _codes(self, expected: ExpectedLesson, configuration: Configuration) -> list[str]:
        """Return what to prime a sandbox with, in order: after the lesson's first run only the
        likeliest code, so that the sandbox is replaced soon. Call with the lock held."""
        lesson = expected.lesson
        codes = [
            code for code in expected.codes if self._failed[lesson.id, configuration, code] < BLAMED
        ]
        return codes[:1] if lesson.id in self._ran else codes

    def _prime(self, expected: ExpectedLesson, one: WarmSandbox) -> None:
        """Prime a sandbox with its next code; without one, wait until it has started."""
        with self._change:
            if one not in self._waiting:
                return
            one.ready = False
            code = one.left.pop(0) if one.left else None
        lesson, configuration = one.lesson, one.configuration
        key = Key(lesson, configuration, expected.seed)

        def interrupted() -> bool:
            return one.wanted or self._closed

        try:
            if not one.primed:
                AheadAnswers(lesson, self._cache / "references").ask_all(one.sandbox, configuration)
            prime(one.sandbox, *key[:2], code, key.seed, self._forks.programs, interrupted)
            if not one.left and not one.current:
                one.current = self._give_kept(one.sandbox, key)
            one.primed += code is not None
        except (Failed, DrawError) as failure:
            # A run will report it; here it only means a slower start.
            cause = failure.fault.code if isinstance(failure, Failed) else "draw"
            _logger.debug("%s: cannot prime pid %d: %s", lesson.id, one.sandbox.pid, cause)
            if code is not None:
                blame = 1 if isinstance(failure, Lost) else 2 if cause in _OUTSIDE else BLAMED
                self._failed[lesson.id, configuration, code] += blame
            self._refused = code is None
            one.sandbox.kill()
        except Cancelled:
            pass
        with self._change:
            one.ready = True
            self._change.notify_all()

    def _give_kept(self, sandbox: Sandbox, key: Key) -> bool:
        """Give a sandbox what the learner's earlier runs compiled, and return whether it still
        works; if not, it is closed."""
        if self._kept is not None and (kept := self._kept.load(*key)):
            sandbox.pure = False
            try:
                give(sandbox, kept, Allowance(key.lesson.limits.seconds))
            except Failed:
                sandbox.close()
                return False
        return True

    def _seed_of(self, lesson: Lesson) -> int:
        return next((e.seed for e in self._expected if e.lesson.id == lesson.id), 0)

    def _release_all(self) -> None:
        _logger.debug("idle for %g s: releasing all", self.idle)
        self._forks.zygotes.stop()
        with self._change:
            for one in self._waiting:
                one.sandbox.kill()
                self._discarded.append(one.sandbox)
            self._waiting.clear()


def _answers(sandbox: Sandbox) -> bool:
    """Return whether a warm sandbox still responds, having printed all that its priming printed;
    close it if not. Whatever ends it from now on is the submission's doing."""
    try:
        give(sandbox, {}, Allowance(PATIENCE_SECONDS))
    except (Failed, Cancelled):
        sandbox.close()
        return False
    sandbox.forget_output()
    return True
