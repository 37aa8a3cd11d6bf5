"""A second sandbox that runs some of the checks while the first goes on: on two cores, a verdict
comes in two thirds of the time.

The session takes the checks in their order, from the first; the helper takes them from the last, in
a thread of its own. Only checks that can be judged without the others are shared (`unchanged`), so
that a result does not depend on where, and after what, a check ran.
"""

import logging
import threading
from collections.abc import Callable, Sequence

from tutor.check import Case, Check
from tutor.engine.submission import Submission
from tutor.report import CheckResult
from tutor.sandbox.process import Cancelled, Failed

Tasks = Sequence[tuple[Check, list[Case]]]
Judged = Callable[[Submission, Check, list[Case], list[CheckResult]], CheckResult]

MIN_CHECKS = 3
"""Checks to share below which a second import of the code is not worth it."""


_logger = logging.getLogger(__name__)


class Helper:
    """Runs the checks of `shared`, numbers of `tasks`, until `end`.

    **Arguments:** `submission`: the code, in sandboxes of its own; `judged`: runs a check, given
    the results of others; `known`: results that are there already, by number.
    """

    def __init__(
        self,
        submission: Submission,
        tasks: Tasks,
        shared: set[int],
        judged: Judged,
        known: dict[int, CheckResult],
    ) -> None:
        self.submission = submission
        self._tasks = tasks
        self._shared = shared
        self._judged = judged
        self._results = dict(known)
        self._taken = {*known}
        self._change = threading.Condition()
        self._over = False
        self._busy = True
        self._thread = threading.Thread(target=self._work, name="helper", daemon=True)
        self._thread.start()

    def take(self, number: int) -> CheckResult | None:
        """Return the helper's result of a check, waiting for it if it is being run; or None, and
        the caller has to run it and to `finish` it."""
        with self._change:
            self._change.wait_for(lambda: number in self._results or number not in self._taken)
            self._taken.add(number)
            return self._results.get(number)

    def finish(self, number: int, result: CheckResult) -> None:
        """Note a result, for which other checks may wait."""
        with self._change:
            self._results[number] = result
            self._change.notify_all()

    def end(self) -> None:
        """Take no further check, and wait until the thread has ended. Nobody needs what it still
        does."""
        with self._change:
            self._over = True
            if self._busy and (main := self.submission.main) is not None:
                main.sandbox.kill()
            self._change.notify_all()
        self._thread.join()

    def _work(self) -> None:
        submission, number = self.submission, None
        try:
            submission.load(submission.configuration())
            while (number := self._next()) is not None:
                check, cases = self._tasks[number]
                self.finish(number, self._judged(submission, check, cases, self._before()))
                if submission.failed:
                    return
        except (Failed, Cancelled):
            pass  # the session runs the check, and reports what is wrong
        except Exception:
            # Ours. The session runs the check, and reports it if it happens there as well.
            _logger.exception("in the helper")
        finally:
            with self._change:
                self._over, self._busy = True, False
                if number is not None and number not in self._results:
                    self._taken.discard(number)
                self._change.notify_all()

    def _next(self) -> int | None:
        """Take the last check that nobody has taken and that needs no other result first; wait
        until there is one. None if there is none left."""
        with self._change:
            self._busy = False
            while not self._over and (left := self._shared - self._taken):
                done = {self._tasks[number][0].title for number in self._results}
                ready = [n for n in left if done.issuperset(self._tasks[n][0].prerequisites)]
                if ready:
                    self._taken.add(max(ready))
                    self._busy = True
                    return max(ready)
                self._change.wait()
            return None

    def _before(self) -> list[CheckResult]:
        with self._change:
            return [*self._results.values()]
