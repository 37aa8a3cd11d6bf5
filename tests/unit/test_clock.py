"""Whose time counts: the learner's, and nobody else's."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.stopwatch import GUARD
from tutor.engine.plan import Configuration
from tutor.engine.references import Reference, References
from tutor.engine.session import Session
from tutor.lesson import Lesson, Limits
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.sandbox.process import Sandbox


class Late:
    """Sandboxes of which PyTorch's is to be had only when somebody has waited for it."""

    def __init__(self, forks: Forks, seconds: float) -> None:
        self._forks = forks
        self._seconds = seconds
        self.waited_for = threading.Event()

    def take(self, lesson: Lesson, place: Configuration) -> Sandbox:
        return self._forks.take(lesson, place)

    def release(self, sandbox: Sandbox) -> None:
        self._forks.release(sandbox)

    def reference(self) -> Sandbox:
        self.waited_for.wait(GUARD)
        time.sleep(self._seconds)
        return self._forks.reference()


def test_waiting_for_pytorch_takes_nothing_of_the_learners_time(
    mini: Pack, forks: Forks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    lesson = replace(mini.lesson("double"), limits=Limits(seconds=1), recorded="")
    late = Late(forks, 2.5)
    get = References.get

    def waits(references: References, case: str, **options: Any) -> Reference:
        late.waited_for.set()
        return get(references, case, **options)

    monkeypatch.setattr(References, "get", waits)
    code = "def double(x):\n    return 2 * x\n"
    with Session(lesson, code, reference_cache=tmp_path, sandboxes=late) as session:
        report = session.check()
    assert report.passed, report
    assert report.timings.reference > 2
    assert report.timings.processor < 1
