"""Versions of everything that a verdict may depend on."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from tutor import __version__

MISSING = "not installed"


@cache
def installed_versions() -> dict[str, str]:
    """Return the installed versions by name, read without importing the packages."""
    found = {"jaxtutor": __version__, "python": platform.python_version()}
    for name in ("jax", "jaxlib", "flax", "optax", "torch", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = MISSING
    return found


def torch_installed() -> bool:
    """Return whether PyTorch is installed. It may still not start."""
    return installed_versions()["torch"] != MISSING


WITHOUT_TORCH = (
    "without PyTorch, lessons are checked against recorded answers; --seed, the comparison of "
    "times, grading and writing lessons need it"
)

INSTALL_TORCH = "python -m pip install torch"
