"""Diagnose whether this machine can run lessons, and how to fix what is wrong."""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from tutor.checks import BUILT_IN, kinds, unusable_kinds
from tutor.engine.versions import (
    INSTALL_TORCH,
    MISSING,
    WITHOUT_TORCH,
    installed_versions,
    torch_installed,
)
from tutor.lesson import Limits
from tutor.pack import BadPack, load_pack
from tutor.report import Protection
from tutor.sandbox.devices import accelerators, nvidia_devices
from tutor.sandbox.isolation import missing
from tutor.sandbox.launch import Spec
from tutor.sandbox.process import Failed, Sandbox
from tutor.storage import paths

FREE_MB = 200
"""Free disk space below which files may not be saved."""


class Diagnostic(Struct, frozen=True):
    """The result of one test. `advice` says what to do if it is not `ok`, and with a `warning`:
    lessons can be checked, but something is missing."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
    warning: bool = False


class Diagnosis(Struct, frozen=True):
    """All results. `ok`: lessons can be checked on this machine."""

    ok: bool
    findings: tuple[Diagnostic, ...]
    versions: dict[str, str]
    devices: str
    protections: tuple[Protection, ...]

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)


def examine() -> Diagnosis:
    """Run all tests. Takes as long as starting both sandboxes."""
    versions = installed_versions()
    findings = [_test_python(), *_test_packages(versions)]
    learner, devices, protections = _test_sandbox("learner", 4)
    findings += [
        learner,
        *_test_torch(),
        _test_isolation(protections),
        _test_course(),
        *list_plugin_kinds(),
        _test_directory("workspace", paths.workspace()),
        _test_directory("progress", paths.data()),
        _test_directory("cache", paths.cache()),
        _test_directory("log", paths.logs()),
        _test_terminal(),
    ]
    return Diagnosis(
        ok=all(finding.ok for finding in findings),
        findings=tuple(findings),
        versions=versions,
        devices=devices,
        protections=protections,
    )


def _test_python() -> Diagnostic:
    version = ".".join(map(str, sys.version_info[:3]))
    return Diagnostic(
        "python",
        sys.version_info >= (3, 11),
        f"{version} at {sys.executable}",
        "install Python 3.11 or newer",
    )


def _test_packages(versions: dict[str, str]) -> list[Diagnostic]:
    results = []
    for name in ("jax", "flax", "optax", "torch", "numpy"):
        found = versions[name] != MISSING
        advice = f"run: {Path(sys.executable).name} -m pip install {name}"
        if name == "torch" and not found:
            detail = f"{MISSING}: {WITHOUT_TORCH}"
            results.append(Diagnostic(name, True, detail, advice, warning=True))
        else:
            results.append(Diagnostic(name, found, versions[name], advice))
    return results


def _test_sandbox(role: str, devices: int) -> tuple[Diagnostic, str, tuple[Protection, ...]]:
    name = f"{role} sandbox"
    real = accelerators(devices) if role == "learner" else 0
    spec = Spec(
        "learner" if role == "learner" else "reference", Limits(), real or devices, bool(real)
    )
    began = time.perf_counter()
    try:
        with Sandbox.start(spec) as sandbox:
            ready = sandbox.ready()
            protections = tuple(sandbox.protections)
    except Failed as failure:
        detail = failure.fault.detail or failure.fault.message
        advice = "read the last line; reinstalling it may help"
        return Diagnostic(name, False, detail, advice), "", ()
    seconds = time.perf_counter() - began
    devices_text = f"{ready.devices} {ready.platform.upper()} devices"
    if not real and role == "learner":
        present = nvidia_devices()
        more = f"; {present} accelerator(s) present, not used" if present else ""
        devices_text = f"simulated: {devices_text}{more}"
    return Diagnostic(name, True, f"starts in {seconds:.1f} s"), devices_text, protections


def _test_torch() -> list[Diagnostic]:
    """Without PyTorch there is nothing to start. If it is broken, learners can still check."""
    if not torch_installed():
        return []
    found, _, _ = _test_sandbox("reference", 1)
    if found.ok:
        return [found]
    last = found.detail.strip().rpartition("\n")[2]
    detail = f"does not start ({last}): {WITHOUT_TORCH}"
    advice = f"reinstall PyTorch: {INSTALL_TORCH}"
    return [Diagnostic(found.name, True, detail, advice, warning=True)]


def _test_isolation(protections: tuple[Protection, ...]) -> Diagnostic:
    """Weak isolation is a warning, not a failure: learners can still check their own code."""
    if not protections:
        return Diagnostic("isolation", True, "unknown: no sandbox started")
    if names := missing(protections):
        detail = f"weak: {', '.join(names)} not covered; check only code you would run yourself"
        return Diagnostic("isolation", True, detail)
    return Diagnostic("isolation", True, "files, network and processes are covered")


def _test_course() -> Diagnostic:
    try:
        pack = load_pack()
    except BadPack as error:
        return Diagnostic("course", False, str(error), "reinstall jaxtutor")
    return Diagnostic("course", True, f"{len(pack.lessons)} lessons in {pack.root}")


def list_plugin_kinds() -> list[Diagnostic]:
    """Return the kinds of checks from plugins. An unusable one is a warning, not a failure: it
    affects only lessons that use it."""
    ours = {kind.kind for kind in BUILT_IN}
    results = [
        Diagnostic(f"check {name}", True, f"from {kind.__module__.partition('.')[0]}")
        for name, kind in kinds().items()
        if name not in ours
    ]
    for name, why in unusable_kinds().items():
        results.append(Diagnostic(f"check {name}", True, f"cannot be used: {why}"))
    return results


def _test_directory(name: str, directory: Path) -> Diagnostic:
    advice = f"make {directory} writable, or set JAXTUTOR_HOME to a directory that is"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
        free = shutil.disk_usage(directory).free >> 20
    except OSError as error:
        return Diagnostic(name, False, f"{directory}: {error.strerror}", advice)
    if free < FREE_MB:
        return Diagnostic(name, False, f"{directory}: {free} MiB left", "free some disk space")
    return Diagnostic(name, True, f"{directory}")


def _test_terminal() -> Diagnostic:
    if not sys.stdout.isatty():
        return Diagnostic("terminal", True, "not a terminal: plain text")
    columns, rows = shutil.get_terminal_size()
    name = os.environ.get("TERM", "")
    return Diagnostic(
        "terminal",
        (columns >= 80 and rows >= 24) and name != "dumb",
        f"{name}, {columns}×{rows}",
        "enlarge the window to at least 80×24 to use the app",
    )
