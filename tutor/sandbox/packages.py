"""Packages beside ours of which modules may be imported inside: those that bring kinds of checks.

Wherever pip has put one (in `site-packages`, a folder of `PYTHONPATH`, its author's own sources) it
alone is let in, not what lies beside it.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

FOLDERS: dict[str, str] = {}
"""By name: a package's folder, or the file of a module that is all there is. `tutor.checks` writes
this when it finds kinds of checks; every sandbox that is started afterwards has them."""


def admit(folders: Mapping[str, str]) -> None:
    """Have these importable in this process, before anything else of the same name."""
    if folders:
        sys.meta_path.insert(0, _Finder(folders))


def sources(folder: str) -> list[Path]:
    """The files of a package that can be imported."""
    path = Path(folder)
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


class _Finder(MetaPathFinder):
    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = dict(folders)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        folder = self._folders.get(fullname)
        if folder is None:
            return None
        if not Path(folder).is_dir():
            return spec_from_file_location(fullname, folder)
        start = Path(folder, "__init__.py")
        return spec_from_file_location(fullname, start, submodule_search_locations=[folder])
