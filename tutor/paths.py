"""Where things are kept on this machine.

Everything can be moved together by setting `JAXTUTOR_HOME`; then the workspace, the data and
the cache are folders in it.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

NOWHERE = Path(os.devnull) / "jaxtutor"
"""In place of a home that cannot be found: nothing can be made there, by nobody."""


def workspace() -> Path:
    """The learner's own files."""
    return _home("workspace") or _found(Path.home) / "jaxtutor"


def data() -> Path:
    """Progress."""
    if home := _home("data"):
        return home
    from platformdirs import user_data_path

    return _found(lambda: user_data_path("jaxtutor", appauthor=False))


def cache() -> Path:
    """What can be computed again."""
    if home := _home("cache"):
        return home
    from platformdirs import user_cache_path

    return _found(lambda: user_cache_path("jaxtutor", appauthor=False))


def logs() -> Path:
    """The log; see `tutor.log`."""
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


def _found(place: Callable[[], Path]) -> Path:
    """Return a place, if this user has a home: in a container they may not even be known."""
    try:
        return place()
    except RuntimeError:
        return NOWHERE
