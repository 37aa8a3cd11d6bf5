"""The data files of a pack: where they are, and what they hold as a checksum.

They are read by `tutor.inputs.data_files`, when inputs are drawn.
"""

import hashlib
import os
from pathlib import Path

import msgspec

from tutor.inputs.datasets import DataFile
from tutor.pack.folder import Folder
from tutor.pack.problems import BadSource
from tutor.suggestions import choice

FOLDER = "data"
ENDINGS = (".csv", ".npz")


def data_file(name: str) -> str:
    """Return the path of a data file, relative to the pack."""
    return f"{FOLDER}/{name}"


def data_names(root: Path) -> list[str]:
    """Return the names of all files in a pack that may be data files."""
    try:
        found = os.listdir(root / FOLDER)  # noqa: PTH208 - names only
    except OSError:
        return []
    return sorted(name for name in found if name.endswith(ENDINGS))


class DataFolder:
    """The data files of a pack, each hashed once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._hashes: dict[str, str] = {}

    def located(self, file: DataFile) -> DataFile:
        """Return a data file with its path and checksum.

        Raises:
            BadSource: it cannot be read.
        """
        name = data_file(file.file)
        if file.file not in self._hashes:
            if self._folder.stamp(name) is None:
                remedy = choice(file.file, data_names(self._folder.root), "put it there")
                raise BadSource(self._folder.problem(name, "not in the pack", remedy=remedy))
            data = self._folder.read(name)
            self._hashes[file.file] = hashlib.sha256(data).hexdigest()
        path = str((self._folder.root / name).absolute())
        return msgspec.structs.replace(file, path=path, sha256=self._hashes[file.file])
