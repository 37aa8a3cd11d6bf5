"""The file that `jaxtutor doctor --report` writes: Markdown to attach to an issue.

Like the log, it holds nothing of a learner's code and no student's name.
"""

import os
import platform
from datetime import UTC, datetime

import msgspec

from tutor import __version__
from tutor.cli.diagnosis import Diagnosis
from tutor.foreign.plain_text import inert
from tutor.lesson import Limits
from tutor.pack import BadPack, open_pack
from tutor.pack.installed import KnownPack, known
from tutor.storage import paths
from tutor.storage.log import read_tail

LOG_LINES = 200

_INTRODUCTION = """\
Written by `jaxtutor doctor --report` for an issue. It contains none of your code and none of its
output; your home directory is shown as `~`. Read it before you share it."""


def bug_report(diagnosis: Diagnosis) -> str:
    date = datetime.now(UTC).isoformat(" ", "seconds")
    system = f"{platform.platform()}, {os.cpu_count()} cores"
    versions = {"jaxtutor": __version__, "python": platform.python_version(), **diagnosis.versions}
    sections = {
        "System": [date, system, f"devices: {diagnosis.devices}"],
        "Versions": [f"{name} {version}" for name, version in sorted(versions.items())],
        "Diagnosis": [_result(one.name, one.ok, one.detail) for one in diagnosis.findings],
        "Sandbox layers": [
            _result(one.name, one.active, one.detail) for one in diagnosis.protections
        ],
        "Limits of a lesson that sets none": [
            f"{name}: {value}" for name, value in msgspec.structs.asdict(Limits()).items()
        ],
        "Packs": [_describe(pack) for pack in known()],
        "Settings": [
            f"{name}={value}" for name, value in sorted(os.environ.items())
            if name.startswith("JAXTUTOR_")
        ] or ["none"],
    }  # fmt: skip
    parts = ["# jaxtutor bug report", _INTRODUCTION]
    for title, lines in sections.items():
        parts += [f"## {title}", "\n".join(map(_item, lines))]
    tail = inert(read_tail(LOG_LINES))
    parts += [f"## Log: the last {LOG_LINES} lines", f"````text\n{tail}\n````"]
    return paths.shorten_home("\n\n".join(parts)) + "\n"


def _result(name: str, ok: bool, detail: str) -> str:
    return f"{'✓' if ok else '✗'} {name}{detail and f': {detail}'}"


def _item(text: str) -> str:
    return "- " + inert(text).replace("\n", "\n  ")


def _describe(pack: KnownPack) -> str:
    """Return the id and version of a pack, and nothing else of it."""
    if pack.root is None:
        return f"{pack.id}: cannot be used"
    try:
        version = open_pack(pack.root).manifest.version
    except BadPack:
        return f"{pack.id}: cannot be used"
    return f"{pack.id} {version or '(no version)'}"
