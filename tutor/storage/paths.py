"""Directories on this machine.

If `JAXTUTOR_HOME` is set, workspace, data and cache are directories in it.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

NOWHERE = Path(os.devnull) / "jaxtutor"
"""Used if there is no home directory; nothing can be created in it."""


def workspace() -> Path:
    """Return the directory of the learner's files."""
    return _home("workspace") or _found(Path.home) / "jaxtutor"


def data() -> Path:
    """Return the directory of progress and installed packs."""
    if home := _home("data"):
        return home
    from platformdirs import user_data_path

    return _found(lambda: user_data_path("jaxtutor", appauthor=False))


def cache() -> Path:
    """Return the directory of data that can be recreated."""
    if home := _home("cache"):
        return home
    from platformdirs import user_cache_path

    return _found(lambda: user_cache_path("jaxtutor", appauthor=False))


def logs() -> Path:
    """The log; see `tutor.storage.log`."""
    if home := _home("logs"):
        return home
    from platformdirs import user_log_path

    return _found(lambda: user_log_path("jaxtutor", appauthor=False))


def shorten_home(text: str) -> str:
    """Replace the path of the user's home directory by `~`, for text that others will read."""
    home = _found(Path.home)
    for path in {home, Path(os.path.realpath(home))}:
        if len(path.parts) > 1:
            text = re.sub(rf"{re.escape(str(path))}(?![\w-])", "~", text)
    return text


def _home(part: str) -> Path | None:
    home = os.environ.get("JAXTUTOR_HOME")
    return _found(lambda: Path(home).expanduser().resolve()) / part if home else None


def _found(path: Callable[[], Path]) -> Path:
    """Return a path, or `NOWHERE` without a home directory, as for unknown users in a container."""
    try:
        return path()
    except RuntimeError:
        return NOWHERE
