"""Packs that came with pip: where they are, found without importing anything of them.

A distribution says so by an entry point in the group `jaxtutor.packs`. Its name is the pack's id,
its value `package:folder`, and in that folder is `pack.yaml`:

    [project.entry-points."jaxtutor.packs"]
    mypack = "mypack:lessons"
"""

import re
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path

from msgspec import Struct

GROUP = "jaxtutor.packs"


class Distributed(Struct, frozen=True):
    """A pack that a distribution announces.

    `name` should be its id. `folder` is None where `value` leads to none with a `pack.yaml`.
    """

    name: str
    value: str
    distribution: str
    version: str
    folder: Path | None


def distributed() -> list[Distributed]:
    """Every pack announced by an installed distribution. Takes some 10 ms, and is not remembered:
    pip may have been run meanwhile."""
    found = [_told(point) for point in entry_points(group=GROUP)]
    return sorted(found, key=lambda one: (one.name, normalised(one.distribution)))


def normalised(name: str) -> str:
    """A distribution's name as names of distributions are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _told(point: EntryPoint) -> Distributed:
    dist = point.dist
    assert dist is not None, "an entry point read from no distribution"
    folder = _folder(point.value, dist)
    return Distributed(point.name, point.value, dist.metadata["Name"] or "", dist.version, folder)


def _folder(value: str, dist: Distribution) -> Path | None:
    """Where `package:folder` is; each of the two may be dotted.

    `EntryPoint.load`, and `importlib.util.find_spec` of a package in a package, would import.
    """
    package, _, folder = value.partition(":")
    parts = [*package.split("."), *(folder.split(".") if folder else [])]
    if not all(part.isidentifier() for part in parts):
        return None
    beside = Path(str(dist.locate_file(parts[0])))
    if _is_pack(found := beside.joinpath(*parts[1:])):
        return found
    # Installed as editable: somewhere else on the import path.
    spec = PathFinder.find_spec(parts[0])
    bases = (spec.submodule_search_locations or ()) if spec is not None else ()
    folders = (Path(base, *parts[1:]) for base in bases)
    return next(filter(_is_pack, folders), None)


def _is_pack(folder: Path) -> bool:
    return (folder / "pack.yaml").is_file()
