"""Real sandboxes in which rules are proved."""

from collections.abc import Callable, Iterator

import pytest

from tutor.explain.symptom import Symptom, of_fault
from tutor.forks import Forks
from tutor.lesson import Limits
from tutor.sandbox import faults
from tutor.sandbox.launch import Spec
from tutor.sandbox.process import Failed, Sandbox
from tutor.sandbox.protocol import Load, Loaded, Raised

Provoke = Callable[[str, int], Symptom | None]

SECONDS = 60.0


@pytest.fixture(scope="session")
def provoke(forks: Forks) -> Iterator[Provoke]:
    """Import a module beside JAX (or, if it imports torch, where that can be had) and tell what
    goes wrong; None if nothing does. Modules follow each other in one process for each number of
    devices, or every rule would wait for JAX to start."""
    running: dict[tuple[str, int], Sandbox] = {}

    def sandbox(role: str, devices: int) -> Sandbox:
        found = running.get((role, devices))
        if found is None or not found.alive:
            forks.nursery.start(role)
            spec = Spec("reference" if role == "reference" else "learner", LIMITS, devices)
            found = running[role, devices] = Sandbox.start(spec, forks.nursery)
            found.ready()
        return found

    def provoked(source: str, devices: int = 1) -> Symptom | None:
        import time

        role = "reference" if "import torch" in source else "learner"
        load = Load("load", source, "provoke.py")
        try:
            reply, _ = sandbox(role, devices).ask(
                load, None, time.monotonic() + SECONDS, "the import of your code"
            )
        except Failed as failure:
            return of_fault(failure.fault, source)
        if isinstance(reply, Loaded):
            return None
        assert isinstance(reply, Raised)
        return of_fault(faults.from_raised(reply, source), source)

    yield provoked
    for each in running.values():
        each.close()


LIMITS = Limits(seconds=SECONDS, memory_mb=4096)
