"""Packages with kinds of checks, which sandboxes may import in addition to ours.

Only the package itself is admitted, wherever pip installed it (`site-packages`, a directory on
`PYTHONPATH`, its author's sources), not its neighbours.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

FOLDERS: dict[str, str] = {}
"""Directories by package name; for a single-module package, its file. `tutor.checks` adds to this,
and sandboxes started later admit them."""


def admit(folders: Mapping[str, str]) -> None:
    """Make these importable in this process, before anything else of the same name."""
    if folders:
        FOLDERS.update(folders)
        sys.meta_path.insert(0, _Finder(folders))


def sources(folder: str) -> list[Path]:
    """Return the importable files of a package."""
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
