"""What the app's first screen says about this machine: the quick part of `jaxtutor doctor`."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tutor.engine.versions import MISSING, installed_versions
from tutor.storage.paths import shorten_home

if TYPE_CHECKING:
    from tutor.engine.machine import Diagnostic
    from tutor.sandbox.process import Sandbox

NAMES = ("Python", "JAX", "PyTorch", "Your code", "Sandbox", "Isolation", "Devices")
"""What is looked at, in the order of the screen."""

WITH_JAX = ("jax", "flax", "optax")
DOCTOR = "run: jaxtutor doctor"


def look(workspace: Path, on_start: "Callable[[Sandbox], None]") -> "Iterator[Diagnostic]":
    """Yield a result for each of `NAMES`; those that a sandbox has to start for come last.

    Call this in a thread: a sandbox imports JAX, which takes seconds.

    **Arguments:** `workspace`: the directory of the learner's code; `on_start` gets the sandbox,
    and may kill it.

    Raises:
        Cancelled: the sandbox was killed.
    """
    from tutor.engine import machine  # starts sandboxes; too much for the first frame
    from tutor.engine.machine import Diagnostic
    from tutor.sandbox.isolation import missing

    versions = installed_versions()
    yield _called("Python", machine.python(), versions["python"])
    yield _jax([machine.package(name, versions) for name in WITH_JAX])
    torch = machine.package("torch", versions)
    without = f"{MISSING}: lessons are checked against recorded answers"
    yield _called("PyTorch", torch, without if torch.warning else torch.detail)
    code = machine.directory("Your code", workspace)
    yield _called("Your code", code, shorten_home(code.detail))
    tried = machine.sandbox(on_start)
    if not tried.result.ok:
        last = tried.result.detail.strip().rpartition("\n")[2]
        yield Diagnostic("Sandbox", False, f"does not start: {last}", DOCTOR)
        for name in ("Isolation", "Devices"):
            yield Diagnostic(name, True, "unknown: no sandbox started", DOCTOR, warning=True)
        return
    yield _called("Sandbox", tried.result, tried.result.detail)
    isolation = replace(machine.isolation(tried.protections), name="Isolation")
    weak = bool(missing(tried.protections))
    yield replace(isolation, warning=True, advice=DOCTOR) if weak else isolation
    yield Diagnostic("Devices", True, tried.devices)


def _called(name: str, found: "Diagnostic", detail: str) -> "Diagnostic":
    return replace(found, name=name, detail=detail)


def _jax(found: "Sequence[Diagnostic]") -> "Diagnostic":
    """Return one result for JAX and the libraries that the course writes networks with."""
    from tutor.engine import machine

    jax, *others = found
    if lacking := [one.name for one in found if not one.ok]:
        advice = machine.install(*lacking)
        return replace(
            jax, name="JAX", ok=False, detail=f"{', '.join(lacking)} {MISSING}", advice=advice
        )
    more = " and ".join(f"{one.name} {one.detail}" for one in others)
    return replace(jax, name="JAX", detail=f"{jax.detail}, with {more}")
