"""PyTorch's answers for the lessons that are expected, computed before a run needs them."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tutor.engine.plan import plan, race_request, requests
from tutor.engine.references import References, Request
from tutor.engine.versions import torch_installed
from tutor.inputs.drawing import DrawError
from tutor.lesson import Lesson
from tutor.pool.warm_sandbox import ExpectedLesson
from tutor.sandbox.process import Sandbox


class TorchAnswers:
    """Asks PyTorch in threads of their own, and notes in an `ExpectedLesson` what is known.

    **Arguments:** `cache`: the directory for the answers; `sandbox` starts one for PyTorch;
    `change`: guards the lessons, and is notified.
    """

    def __init__(
        self, cache: Path, sandbox: Callable[[], Sandbox], change: threading.Condition
    ) -> None:
        self._cache = cache
        self._sandbox = sandbox
        self._change = change
        self._running: list[References] = []

    def ask(self, expected: ExpectedLesson) -> None:
        """Compute the answers that are not cached."""
        expected.asked = True
        try:
            asked = requests(expected.lesson, plan(expected.lesson, expected.seed))
        except DrawError:
            return  # a run will report it

        def known() -> None:
            expected.known = True

        self._ask(expected.lesson, asked, known)

    def ask_race(self, expected: ExpectedLesson) -> None:
        """Time the lesson's PyTorch if that is not cached, for the race after a pass."""
        expected.raced = True
        with suppress(DrawError):
            request = race_request(expected.lesson, plan(expected.lesson, expected.seed))
            if request is not None and torch_installed():
                self._ask(expected.lesson, [request], lambda: None)

    def cancel(self) -> None:
        """End what is being computed."""
        for references in self._running:
            references.cancel()

    def _ask(self, lesson: Lesson, asked: list[Request], done: Callable[[], None]) -> None:
        """**Arguments:** `done` is called with the lock held."""
        references = References(lesson, asked, self._cache, self._sandbox)

        def ended() -> None:
            with self._change:
                done()
                self._running.remove(references)
                self._change.notify_all()

        self._running.append(references)
        references.start(ended)
