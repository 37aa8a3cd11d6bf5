"""File names made of submissions' names, which may be anything."""

import hashlib
import re
import unicodedata

MAX_BYTES = 120
"""So that a name, what makes it unique and an ending fit into the 255 that most systems allow."""

# What Windows takes for a device, with any ending.
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)


class FileNames:
    """A name of its own for each submission, also where case and accents do not count.

    A harmless name stays as it is. In others what some system does not allow becomes `_`, and
    like a name that is taken already they end in a few digits of their checksum, so they are the
    same at every run.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, submission: str) -> str:
        name = _plain(submission)
        if name != submission or _key(name) in self._taken:
            digest = hashlib.sha256(submission.encode("utf-8", "surrogatepass")).hexdigest()
            # Eight digits, and more in the unlikely case that those are taken, too.
            name = next(
                candidate
                for length in range(8, len(digest) + 1)
                if _key(candidate := f"{name}-{digest[:length]}") not in self._taken
            )
        self._taken.add(_key(name))
        return name


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _plain(text: str) -> str:
    name = "".join(
        one if one.isprintable() and one not in '<>:"/\\|?*' else "_"
        for one in unicodedata.normalize("NFC", text)
    )
    name = name.encode()[:MAX_BYTES].decode(errors="ignore").strip(" .")
    if name.startswith("-") or _DEVICES.match(name):
        name = f"_{name}"  # nor an option of some command
    return name or "_"
