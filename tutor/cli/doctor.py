"""`jaxtutor doctor`: whether this machine can do what jaxtutor needs, and what to do if not."""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from tutor import paths
from tutor.checks import BUILT_IN, kinds, unusable_kinds
from tutor.engine.versions import installed_versions
from tutor.lesson import Limits
from tutor.pack import BadPack, load_pack
from tutor.report import Protection
from tutor.sandbox.devices import accelerators, nvidia_devices
from tutor.sandbox.isolation import missing
from tutor.sandbox.launch import Spec
from tutor.sandbox.process import Failed, Sandbox

FREE_MB = 200
"""Free disk below which saving becomes doubtful."""


class Finding(Struct, frozen=True):
    """One thing looked at. `advice` says what to do if it is not `ok`."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


class Diagnosis(Struct, frozen=True):
    """Everything looked at. `ok`: lessons can be checked here."""

    ok: bool
    findings: tuple[Finding, ...]
    versions: dict[str, str]
    devices: str
    protections: tuple[Protection, ...]

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)


def examine() -> Diagnosis:
    """Look at everything; takes as long as it takes to start both sandboxes."""
    versions = installed_versions()
    findings = [_python(), *_packages(versions)]
    learner, devices, protections = _sandbox("learner", 4)
    reference, _, _ = _sandbox("reference", 1)
    findings += [
        learner,
        reference,
        _isolation(protections),
        _course(),
        *brought_kinds(),
        _writable("workspace", paths.workspace()),
        _writable("progress", paths.data()),
        _writable("cache", paths.cache()),
        _terminal(),
    ]
    return Diagnosis(
        ok=all(finding.ok for finding in findings),
        findings=tuple(findings),
        versions=versions,
        devices=devices,
        protections=protections,
    )


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding(
        "python",
        sys.version_info >= (3, 11),
        f"{version} at {sys.executable}",
        "install Python 3.11 or newer",
    )


def _packages(versions: dict[str, str]) -> list[Finding]:
    found = []
    for name in ("jax", "flax", "optax", "torch", "numpy"):
        version = versions[name]
        advice = f"run: {Path(sys.executable).name} -m pip install {name}"
        found.append(Finding(name, version != "not installed", version, advice))
    return found


def _sandbox(role: str, devices: int) -> tuple[Finding, str, tuple[Protection, ...]]:
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
        advice = "the last line says what is missing; reinstall jax and torch, or ask for help"
        return Finding(name, False, detail, advice), "", ()
    seconds = time.perf_counter() - began
    devices_told = f"{ready.devices} {ready.platform.upper()} devices"
    if not real and role == "learner":
        present = nvidia_devices()
        more = f"; {present} accelerator(s) present, not used" if present else ""
        devices_told = f"simulated: {devices_told}{more}"
    return Finding(name, True, f"starts in {seconds:.1f} s"), devices_told, protections


def _isolation(protections: tuple[Protection, ...]) -> Finding:
    """Weak isolation is told and is no failure: one's own code can be checked all the same."""
    if not protections:
        return Finding("isolation", True, "not known: no sandbox started")
    if names := missing(protections):
        detail = f"weak: {', '.join(names)} not covered; check only code you would run yourself"
        return Finding("isolation", True, detail)
    return Finding("isolation", True, "files, network and processes are covered")


def _course() -> Finding:
    try:
        pack = load_pack()
    except BadPack as error:
        return Finding("course", False, str(error), "reinstall jaxtutor")
    return Finding("course", True, f"{len(pack.lessons)} lessons in {pack.root}")


def brought_kinds() -> list[Finding]:
    """Kinds of checks that other distributions bring. One that cannot be used harms only lessons
    that want it, so that is told and is no failure."""
    ours = {kind.kind for kind in BUILT_IN}
    found = [
        Finding(f"check {name}", True, f"from {kind.__module__.partition('.')[0]}")
        for name, kind in kinds().items()
        if name not in ours
    ]
    for name, why in unusable_kinds().items():
        found.append(Finding(f"check {name}", True, f"cannot be used: {why}"))
    return found


def _writable(name: str, folder: Path) -> Finding:
    advice = f"make {folder} writable, or set JAXTUTOR_HOME to a folder that is"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        free = shutil.disk_usage(folder).free >> 20
    except OSError as error:
        return Finding(name, False, f"{folder}: {error.strerror}", advice)
    if free < FREE_MB:
        return Finding(name, False, f"{folder}: {free} MiB left", "free some space on that disk")
    return Finding(name, True, f"{folder}")


def _terminal() -> Finding:
    if not sys.stdout.isatty():
        return Finding("terminal", True, "not a terminal: plain text")
    columns, rows = shutil.get_terminal_size()
    name = os.environ.get("TERM", "")
    return Finding(
        "terminal",
        (columns >= 80 and rows >= 24) and name != "dumb",
        f"{name}, {columns}×{rows}",
        "make the window at least 80×24; the app is hard to use in less",
    )
