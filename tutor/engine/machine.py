"""What this machine has for lessons: one function for each thing to look at, and what helps.

`jaxtutor doctor` runs all of them, the app's first screen the quick ones and one sandbox. No
framework is imported here: versions are read from metadata, and sandboxes import the rest.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from tutor.engine.versions import INSTALL_TORCH, MISSING, WITHOUT_TORCH, torch_installed
from tutor.lesson import Limits
from tutor.report import Protection
from tutor.sandbox.devices import accelerators, nvidia_devices
from tutor.sandbox.isolation import missing
from tutor.sandbox.launch import Spec
from tutor.sandbox.process import Failed, Sandbox

FREE_MB = 200
"""Free disk space below which files may not be saved."""

DEVICES = 4
"""Devices of the sandbox that is tried, as lessons with several devices have."""


class Diagnostic(Struct, frozen=True):
    """The result of one test. `advice` says what to do if it is not `ok`, and with a `warning`:
    lessons can be checked, but something is missing."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
    warning: bool = False


class TriedSandbox(Struct, frozen=True):
    """A sandbox that was started: how that went, its devices in words, and what protects it."""

    result: Diagnostic
    devices: str = ""
    protections: tuple[Protection, ...] = ()


def python() -> Diagnostic:
    version = ".".join(map(str, sys.version_info[:3]))
    return Diagnostic(
        "python",
        sys.version_info >= (3, 11),
        f"{version} at {sys.executable}",
        "install Python 3.11 or newer",
    )


def package(name: str, versions: Mapping[str, str]) -> Diagnostic:
    """Look for a package. Without PyTorch, lessons can still be checked.

    **Arguments:** `versions`: those that are installed, by name.
    """
    found = versions[name] != MISSING
    advice = install(name)
    if name == "torch" and not found:
        return Diagnostic(name, True, f"{MISSING}: {WITHOUT_TORCH}", advice, warning=True)
    return Diagnostic(name, found, versions[name], advice)


def install(*names: str) -> str:
    """Return how to install packages."""
    return f"run: {Path(sys.executable).name} -m pip install {' '.join(names)}"


def sandbox(on_start: Callable[[Sandbox], None] = lambda started: None) -> TriedSandbox:
    """Start a sandbox for learners' code, with several devices.

    **Arguments:** `on_start` gets the sandbox while it starts, and may kill it later.

    Raises:
        Cancelled: the sandbox was killed.
    """
    real = accelerators(DEVICES)
    spec = Spec("learner", Limits(), real or DEVICES, bool(real))
    return _try("learner sandbox", spec, on_start)


def torch() -> list[Diagnostic]:
    """Start PyTorch. If it is broken, learners can still check; without it, there is nothing to
    start."""
    if not torch_installed():
        return []
    found = _try("reference sandbox", Spec("reference", Limits(), 1, False)).result
    if found.ok:
        return [found]
    last = found.detail.strip().rpartition("\n")[2]
    detail = f"does not start ({last}): {WITHOUT_TORCH}"
    advice = f"reinstall PyTorch: {INSTALL_TORCH}"
    return [Diagnostic(found.name, True, detail, advice, warning=True)]


def isolation(protections: tuple[Protection, ...]) -> Diagnostic:
    """Weak isolation is a warning, not a failure: learners can still check their own code."""
    if not protections:
        return Diagnostic("isolation", True, "unknown: no sandbox started")
    if names := missing(protections):
        detail = f"weak: {', '.join(names)} not covered"
        advice = "check only code that you would run yourself; Linux can isolate other people's"
        return Diagnostic("isolation", True, detail, advice, warning=True)
    return Diagnostic("isolation", True, "files, network and processes are covered")


def directory(name: str, path: Path) -> Diagnostic:
    """Make a directory if there is none, and write to it."""
    advice = f"make {path} writable, or set JAXTUTOR_HOME to a directory that is"
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
        free = shutil.disk_usage(path).free >> 20
    except OSError as error:
        return Diagnostic(name, False, f"{path}: {error.strerror}", advice)
    if free < FREE_MB:
        return Diagnostic(name, False, f"{path}: {free} MiB left", "free some disk space")
    return Diagnostic(name, True, f"{path}")


def _try(
    name: str, spec: Spec, on_start: Callable[[Sandbox], None] = lambda started: None
) -> TriedSandbox:
    began = time.perf_counter()
    try:
        with Sandbox.start(spec) as started:
            on_start(started)
            ready = started.ready()
            protections = tuple(started.protections)
    except Failed as failure:
        detail = failure.fault.detail or failure.fault.message
        advice = "read the last line; reinstalling it may help"
        return TriedSandbox(Diagnostic(name, False, detail, advice))
    seconds = time.perf_counter() - began
    devices = f"{ready.devices} {ready.platform.upper()} devices"
    if spec.role == "learner" and not spec.accelerators:
        present = nvidia_devices()
        more = f"; {present} accelerator(s) present, not used" if present else ""
        devices = f"simulated: {devices}{more}"
    return TriedSandbox(Diagnostic(name, True, f"starts in {seconds:.1f} s"), devices, protections)
