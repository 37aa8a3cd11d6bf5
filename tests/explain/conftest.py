"""Real sandboxes in which rules are proved."""

import time
from collections.abc import Callable, Iterator

import pytest

import tests.unit.conftest  # noqa: F401 - property tests run as they do there
from tutor.explain import Symptom, of_fault
from tutor.forks import Forks
from tutor.lesson import Lesson, Limits
from tutor.planning import Place
from tutor.sandbox import faults
from tutor.sandbox.launch import Spec
from tutor.sandbox.process import Failed, Sandbox
from tutor.sandbox.protocol import Load, Loaded, Raised

SECONDS = 60.0
LIMITS = Limits(seconds=SECONDS, memory_mb=4096)


class Kept:
    """Sandboxes that modules follow each other in, or each would wait for JAX to start."""

    def __init__(self, forks: Forks) -> None:
        self._forks = forks
        self._running: dict[Spec, Sandbox] = {}

    def get(self, spec: Spec) -> Sandbox:
        """A living one."""
        found = self._running.get(spec)
        if found is None or not found.alive:
            self._forks.nursery.start(spec.role)
            found = self._running[spec] = Sandbox.start(spec, self._forks.nursery)
            found.ready()
        return found

    def take(self, lesson: Lesson, place: Place) -> Sandbox:
        return self.get(Spec("learner", LIMITS, place.devices, quick=place.quick))

    def release(self, sandbox: Sandbox) -> None:
        """It is kept for the next."""

    def reference(self) -> Sandbox:
        return self._forks.reference()

    def close(self) -> None:
        for sandbox in self._running.values():
            sandbox.close()


@pytest.fixture(scope="session")
def kept(forks: Forks) -> Iterator[Kept]:
    sandboxes = Kept(forks)
    yield sandboxes
    sandboxes.close()


Provoke = Callable[[str, int], Symptom | None]


@pytest.fixture(scope="session")
def provoke(kept: Kept) -> Provoke:
    """Import a module beside JAX, or where PyTorch is if it imports that, and tell what goes wrong;
    None if nothing does."""

    def provoked(source: str, devices: int = 1) -> Symptom | None:
        torch = "import torch" in source
        spec = Spec("reference" if torch else "learner", LIMITS, devices, quick=not torch)
        load = Load("load", source, "provoke.py")
        deadline = time.monotonic() + SECONDS
        try:
            reply, _ = kept.get(spec).ask(load, None, deadline, "the import of your code")
        except Failed as failure:
            return of_fault(failure.fault, source)
        if isinstance(reply, Loaded):
            return None
        assert isinstance(reply, Raised)
        return of_fault(faults.from_raised(reply, source), source)

    return provoked
