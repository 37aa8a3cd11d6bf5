"""Versions of everything that a verdict may depend on."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from tutor import __version__


@cache
def installed_versions() -> dict[str, str]:
    """Return the installed versions by name, read without importing the packages."""
    found = {"jaxtutor": __version__, "python": platform.python_version()}
    for name in ("jax", "jaxlib", "flax", "optax", "torch", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
