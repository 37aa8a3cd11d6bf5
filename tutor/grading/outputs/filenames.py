"""Safe file names for submissions, whose names may be any text."""

import hashlib
import re
import unicodedata

MAX_BYTES = 120
"""Leaves room for a suffix and an extension within the 255 bytes that most systems allow."""

# Windows reserves these names, whatever the extension.
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)


class FileNames:
    """A unique file name per submission, also on systems that ignore case and accents.

    A safe name is kept. In any other, characters that some system forbids become `_`. Changed and
    duplicate names end in digits of a checksum of the submission's name, so they are the same in
    every run.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, submission: str) -> str:
        """Return the next unused file name for this submission."""
        name = _safe(submission)
        if name != submission or _key(name) in self._taken:
            digest = hashlib.sha256(submission.encode("utf-8", "surrogatepass")).hexdigest()
            # Eight digits, or more in the unlikely case that those are taken too.
            name = next(
                candidate
                for length in range(8, len(digest) + 1)
                if _key(candidate := f"{name}-{digest[:length]}") not in self._taken
            )
        self._taken.add(_key(name))
        return name


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _safe(text: str) -> str:
    name = "".join(
        character if character.isprintable() and character not in '<>:"/\\|?*' else "_"
        for character in unicodedata.normalize("NFC", text)
    )
    name = name.encode()[:MAX_BYTES].decode(errors="ignore").strip(" .")
    if name.startswith("-") or _DEVICES.match(name):
        name = f"_{name}"  # a leading "-" would be read as an option
    return name or "_"
