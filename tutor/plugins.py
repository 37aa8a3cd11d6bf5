"""Finding packs distributed with pip, without importing their packages.

A distribution declares an entry point in the group `jaxtutor.packs`. Its name is the pack's id, its
value `package:directory`, and the directory contains `pack.yaml`:

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
    """A pack declared by a distribution.

    `name` should be its id. `folder` is None if `value` does not lead to a `pack.yaml`.
    """

    name: str
    value: str
    distribution: str
    version: str
    folder: Path | None


def distributed() -> list[Distributed]:
    """Return all packs of installed distributions. Takes about 10 ms; not cached, because pip may
    run in the meantime."""
    found = [_declared(point) for point in entry_points(group=GROUP)]
    return sorted(found, key=lambda one: (one.name, normalised(one.distribution)))


def normalised(name: str) -> str:
    """Normalise a distribution's name for comparison."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _declared(point: EntryPoint) -> Distributed:
    dist = point.dist
    assert dist is not None, "entry point without a distribution"
    folder = _folder(point.value, dist)
    return Distributed(point.name, point.value, dist.metadata["Name"] or "", dist.version, folder)


def _folder(value: str, dist: Distribution) -> Path | None:
    """Return the directory of `package:directory`; both may be dotted.

    `EntryPoint.load`, and `importlib.util.find_spec` of a subpackage, would import packages.
    """
    package, _, folder = value.partition(":")
    parts = [*package.split("."), *(folder.split(".") if folder else [])]
    if not all(part.isidentifier() for part in parts):
        return None
    installed = Path(str(dist.locate_file(parts[0])))
    if _is_pack(found := installed.joinpath(*parts[1:])):
        return found
    # Editable installs are elsewhere on the import path.
    spec = PathFinder.find_spec(parts[0])
    bases = (spec.submodule_search_locations or ()) if spec is not None else ()
    folders = (Path(base, *parts[1:]) for base in bases)
    return next(filter(_is_pack, folders), None)


def _is_pack(folder: Path) -> bool:
    return (folder / "pack.yaml").is_file()
