"""Our own modules in a sandbox, which a submission cannot find by their names.

Once a submission may run, `sys.modules` does not hold them. Importing one gives a copy, and
replacing a function of it changes nothing that is asked here.
"""

import sys
from importlib import import_module
from types import ModuleType

_hidden: dict[str, ModuleType] = {}


def hide(package: str = "tutor") -> None:
    """Take a package's modules out of `sys.modules`."""
    for name in [*sys.modules]:
        if name == package or name.startswith(f"{package}."):
            _hidden[name] = sys.modules.pop(name)


def ours() -> list[ModuleType]:
    """Return our modules that are imported."""
    loaded = {n: m for n, m in sys.modules.items() if n == "tutor" or n.startswith("tutor.")}
    return [*{**_hidden, **loaded}.values()]


def inside(name: str) -> ModuleType:
    """Return the inside half of a kind of check."""
    if name not in _hidden:
        before = bool(_hidden)
        sys.modules.update(_hidden)  # a kind of another distribution imports some of ours
        try:
            module = import_module(name)
        finally:
            if before:
                hide()
        if not before:
            return module
        hide(name.partition(".")[0])
    return _hidden[name]
