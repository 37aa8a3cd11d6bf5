"""Packages that a lesson needs in addition to jaxtutor's own: `requires: ["equinox>=0.11"]`.

Nothing is ever installed. A lesson whose requirements are not met is skipped, with the command that
installs them.
"""

import shlex
import site
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_ARCHIVES = (".whl", ".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tbz", ".egg")


class BadRequirement(ValueError):
    """Not a requirement; `remedy` says what to write."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def parsed(text: str) -> "Requirement":
    """Read a requirement in pip's form. Raises: BadRequirement: it is none, or names a URL or a
    file."""
    from packaging.requirements import InvalidRequirement, Requirement  # late: this takes a while

    elsewhere = "/" in text or "\\" in text or text.strip().lower().endswith(_ARCHIVES)
    try:
        found = Requirement(text)
    except InvalidRequirement:
        found = None
    if elsewhere or (found is not None and found.url is not None):
        what = f"must not be a URL or a file, got {text!r}"
        raise BadRequirement(what, 'name a package, such as "equinox>=0.11"')
    if found is None:
        what = f"must be a requirement as for pip, got {text!r}"
        remedy = 'write a package and its versions, such as "equinox>=0.11,<0.13", in quotes'
        raise BadRequirement(what, remedy)
    return found


def unmet(requires: Sequence[str]) -> str:
    """Return what is missing or has another version, with the command to install it, in a line:
    `needs equinox>=0.11; run: pip install 'equinox>=0.11'`. Empty if nothing is."""
    wanted: list[str] = []
    needs: list[str] = []
    for one, installed in _installed(requires):
        if installed is None or not _contains(one, installed):
            extras = f"[{','.join(sorted(one.extras))}]" if one.extras else ""
            wanted.append(f"{one.name}{extras}{one.specifier}")
            needs.append(f"{wanted[-1]} ({installed} is installed)" if installed else wanted[-1])
    if not wanted:
        return ""
    return f"needs {', '.join(needs)}; run: pip install {shlex.join(wanted)}"


def versions(requires: Sequence[str]) -> dict[str, str]:
    """Return the installed versions of the packages that a lesson requires."""
    return {one.name: installed for one, installed in _installed(requires) if installed is not None}


def _installed(requires: Sequence[str]) -> "Iterator[tuple[Requirement, str | None]]":
    """Yield the requirements for this Python, each with the version that sandboxes can import."""
    for text in requires:
        one = parsed(text)
        if one.marker is None or one.marker.evaluate():
            found = next(iter(distributions(name=one.name, path=_folders())), None)
            yield one, found.version if found is not None else None


def _folders() -> list[str]:
    """Return the directories of installed packages that sandboxes use: not the user's own, nor
    others on the import path (`tutor.sandbox.isolation.posix`)."""
    own = site.getusersitepackages()
    folders = [entry for entry in sys.path if entry != own]
    return [entry for entry in folders if Path(entry).name in ("site-packages", "dist-packages")]


def _contains(requirement: "Requirement", version: str) -> bool:
    from packaging.version import InvalidVersion

    try:
        return requirement.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False
