"""Kinds of checks from other distributions.

A distribution lists its kinds as entry points in the group `jaxtutor.checks` (see
`docs/checks/own.md`). Their classes are imported into this process: installing a distribution means
trusting it. Their inside halves are imported in the sandboxes, where submissions can read the
package. A kind that cannot be used affects only the lessons that use it.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.check import Check
from tutor.sandbox.packages import FOLDERS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "jaxtutor.checks"
_OURS = "tutor.checks.inside."


class Unusable(Exception):
    """A kind cannot be used. The message is the reason."""


def add_installed_kinds(kinds: dict[str, type[Check]]) -> dict[str, str]:
    """Add the kinds of installed distributions, and let sandboxes import their inside halves.

    **Returns:** why the others cannot be used, by name.
    """
    # Not at the top: the sandboxes import this package, too, and do not need it.
    from importlib.metadata import entry_points

    unusable: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP), key=_distribution):
        try:
            if point.name in kinds:
                raise Unusable(f"a kind {point.name!r} already exists")
            kinds[point.name] = _load(point)
        except Unusable as error:
            unusable[point.name] = f"{point.value} of {_distribution(point)}: {error}"
    return unusable


def _load(point: "EntryPoint") -> type[Check]:
    try:
        kind = point.load()
    except Exception as error:  # noqa: BLE001 - importing it runs any code
        raise Unusable(f"{type(error).__name__}: {error}") from None
    if not (isinstance(kind, type) and issubclass(kind, Check)):
        raise Unusable("not a subclass of tutor.check.Check")
    if getattr(kind, "kind", None) != point.name:
        raise Unusable(f"its `kind` must be the name of its entry point, {point.name!r}")
    if point.name not in kind.__struct_fields__:
        raise Unusable(f"it has no field {point.name!r}")
    inside = getattr(kind, "inside", None)
    if not isinstance(inside, str):
        raise Unusable("its `inside` must name a module")
    if not inside.startswith(_OURS):
        _admit_inside(kind.__module__.partition(".")[0], inside)
    return kind


def _admit_inside(package: str, inside: str) -> None:
    """Let sandboxes import the inside half, which must be in the same package. It is not imported
    here because it may import JAX."""
    first, *rest = inside.split(".")
    if first != package:
        raise Unusable(f"its inside half, {inside}, must be in the package {package}")
    start = getattr(sys.modules[package], "__file__", None)
    if start is None:
        raise Unusable(f"the package {package} needs an __init__.py")
    path = Path(start)
    folder = path.parent if path.name == "__init__.py" else path
    half = folder.joinpath(*rest)
    if rest and not (half.with_suffix(".py").is_file() or (half / "__init__.py").is_file()):
        raise Unusable(f"its inside half, {inside}, does not exist")
    FOLDERS[package] = str(folder)


def _distribution(point: "EntryPoint") -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else ""
