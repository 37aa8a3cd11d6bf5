"""Where things are kept on this machine.

Everything can be moved together by setting `JAXTUTOR_HOME`; then the workspace, the data and
the cache are folders in it.
"""

import os
from pathlib import Path


def workspace() -> Path:
    """The learner's own files."""
    return _home("workspace") or Path.home() / "jaxtutor"


def data() -> Path:
    """Progress."""
    if home := _home("data"):
        return home
    from platformdirs import user_data_path

    return user_data_path("jaxtutor", appauthor=False)


def cache() -> Path:
    """What can be computed again."""
    if home := _home("cache"):
        return home
    from platformdirs import user_cache_path

    return user_cache_path("jaxtutor", appauthor=False)


def _home(part: str) -> Path | None:
    home = os.environ.get("JAXTUTOR_HOME")
    return Path(home).expanduser().resolve() / part if home else None
