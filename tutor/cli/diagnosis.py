"""Diagnose whether this machine can run lessons, and how to fix what is wrong."""

import os
import shutil
import sys

import msgspec
from msgspec import Struct

from tutor.checks import BUILT_IN, kinds, unusable_kinds
from tutor.engine import machine
from tutor.engine.machine import Diagnostic
from tutor.engine.versions import installed_versions
from tutor.pack import BadPack, load_pack
from tutor.report import Protection
from tutor.storage import paths

PACKAGES = ("jax", "flax", "optax", "torch", "numpy")


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
    findings = [machine.python(), *(machine.package(name, versions) for name in PACKAGES)]
    sandbox = machine.sandbox()
    findings += [
        sandbox.result,
        *machine.torch(),
        machine.isolation(sandbox.protections),
        _test_course(),
        *list_plugin_kinds(),
        machine.directory("workspace", paths.workspace()),
        machine.directory("progress", paths.data()),
        machine.directory("cache", paths.cache()),
        machine.directory("log", paths.logs()),
        _test_terminal(),
    ]
    return Diagnosis(
        ok=all(finding.ok for finding in findings),
        findings=tuple(findings),
        versions=versions,
        devices=sandbox.devices,
        protections=sandbox.protections,
    )


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
