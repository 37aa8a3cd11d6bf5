"""What a learner has set in the app: the theme and other keys, in two small JSON files.

`settings.json` is written by the app; `keys.json` by the learner, as in `{"run": "ctrl+e,f5"}`.
"""

import json
import logging
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from tutor.storage import paths
from tutor.storage.files import write_atomically
from tutor.suggestions import nearest

_logger = logging.getLogger(__name__)


class Settings:
    """Texts by name. A file that cannot be read counts as empty, and is replaced by the next
    change; one that cannot be written is left as it is: settings are not worth an error."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or paths.data() / "settings.json"

    @property
    def empty(self) -> bool:
        return not self._read()

    def get(self, name: str) -> str | None:
        value = self._read().get(name)
        return value if isinstance(value, str) else None

    def set(self, name: str, value: str) -> None:
        settings = self._read()
        if settings.get(name) == value:
            return
        try:
            text = json.dumps({**settings, name: value}, indent=2)
            write_atomically(self._file, text.encode(), durable=False)
        except OSError as error:
            _logger.warning("%s was not saved: %s", name, error)

    def _read(self) -> dict[str, object]:
        with suppress(OSError, ValueError):
            found = json.loads(self._file.read_text(encoding="utf-8"))
            if isinstance(found, dict):
                return found
        return {}


def keys_file() -> Path:
    return paths.data() / "keys.json"


def own_keys(actions: Collection[str]) -> tuple[dict[str, str], str]:
    """Return the learner's keys by action, and what is wrong with their file; empty if nothing is.

    **Arguments:** `actions`: the ids of all actions.
    """
    file = keys_file()
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, f"{file}: {error.strerror}; your keys are not used"
    except ValueError as error:
        return {}, f"{file}: {error}; your keys are not used"
    if not isinstance(found, dict):
        return {}, f'{file}: expected {{"run": "ctrl+e"}}; your keys are not used'
    for action, keys in found.items():
        if action not in actions:
            meant = nearest(action, actions)
            return {}, f"{file}: there is no action {action!r}{meant}; your keys are not used"
        if not isinstance(keys, str):
            return {}, f"{file}: {action}: expected keys as text, as in ctrl+e,f5"
    return found, ""
