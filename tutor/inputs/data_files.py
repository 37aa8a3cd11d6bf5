"""Reading the data files of a pack: CSV, and arrays of an `.npz` archive.

Packs are untrusted. A file is bounded before it is read, its arrays before they are unpacked, and
nothing is unpickled or evaluated. Every error names the file, the line or the array, and a remedy.
"""

import csv
import hashlib
import io
import math
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from tutor.arrays import Array, Floats, np
from tutor.foreign.plain_text import one_line
from tutor.foreign.zips import DAMAGE, danger_in, opened
from tutor.inputs.datasets import DataFile, Examples
from tutor.inputs.drawing import DrawError
from tutor.suggestions import choice

FOLDER = "data"
MAX_ROWS = 100_000
MAX_COLUMNS = 1_000
MAX_NAME = 200
"""Characters of a column's name."""

MAX_AXES = 8
MAX_NPY_HEADER = 10_000
MAX_UNPACKED = 32 << 20
"""Bytes of an unpacked array: about as many elements as a draw may have, in float64."""

KEPT = 8
"""Data sets kept in memory."""

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_LARGEST = (2 - 2**-23) * 2.0**127
"""The largest number of float32."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


class BadData(DrawError):
    """A data file that cannot be used: `what` is wrong with it, and a `remedy`."""

    def __init__(self, what: str, remedy: str) -> None:
        self.what, self.remedy = one_line(what), one_line(remedy)  # they quote the file
        super().__init__(f"{self.what}; {self.remedy}")


@lru_cache(maxsize=KEPT)
def load(source: DataFile) -> Examples:
    """Return the features float32 (n, …) and the labels (n,) of a data file: classes int32 from 0,
    or targets float32.

    Raises:
        BadData: it cannot be used, or has changed since the lesson was read.
    """
    shown = f"{FOLDER}/{source.file}"
    try:
        with Path(source.path).open("rb") as file:
            data = file.read(MAX_UNPACKED)  # the pack reader has seen a smaller one
    except OSError as error:
        _refuse(shown, f"cannot be read: {error.strerror}", "put it back, and start again")
    if hashlib.sha256(data).hexdigest() != source.sha256:
        _refuse(shown, "has changed since the lesson was read", "start again")
    return read(shown, data, source)


def read(shown: str, data: bytes, source: DataFile) -> Examples:
    """Return the features and labels of a file's contents; see `load`.

    **Arguments:** `shown`: the file's name in messages.
    """
    x, y = (_from_arrays if source.file.endswith(".npz") else _from_csv)(shown, data, source)
    x.flags.writeable = y.flags.writeable = False  # they are kept
    return x, y


# --- CSV -------------------------------------------------------------------------------------


class _Table:
    """The columns of a CSV file that are used, as text, with the line of each row."""

    def __init__(self, shown: str, data: bytes, wanted: Iterable[str]) -> None:
        self.shown = shown
        self.lines: list[int] = []
        self.columns: dict[str, list[str]] = {name: [] for name in wanted}
        rows = self._rows(data)
        header_line, header = next(rows, (1, []))
        header = [name.strip() for name in header]
        if not header:
            _refuse(shown, "is empty", "write a row with the names of the columns, then the data")
        if len(header) > MAX_COLUMNS:
            what = f"must have at most {MAX_COLUMNS:,} columns, got {len(header):,}"
            self.refuse(header_line, what, "save the data as an .npz archive")
        if any(len(name) > MAX_NAME for name in header):
            what = f"a column's name must have at most {MAX_NAME} characters"
            self.refuse(header_line, what, "begin with a row of names")
        places = {name: self._place(name, header, header_line) for name in self.columns}
        for line, row in rows:
            if len(row) != len(header):
                what = f"{len(row)} cells, where the header has {len(header)}"
                self.refuse(line, what, "quote cells that contain a comma")
            if len(self.lines) == MAX_ROWS:
                self.refuse(line, f"must have at most {MAX_ROWS:,} rows", "leave rows out")
            self.lines.append(line)
            for name, place in places.items():
                self.columns[name].append(row[place].strip())
        if not self.lines:
            self.refuse(header_line, "no row follows the header", "add the data")

    def refuse(self, line: int, what: str, remedy: str) -> NoReturn:
        _refuse(f"{self.shown}, line {line}", what, remedy)

    def _place(self, name: str, header: list[str], line: int) -> int:
        found = [place for place, one in enumerate(header) if one == name]
        if not found:
            self.refuse(line, f"there is no column {name!r}", choice(name, header, "add it"))
        if len(found) > 1:
            self.refuse(line, f"{len(found)} columns are called {name!r}", "rename one of them")
        return found[0]

    def _rows(self, data: bytes) -> Iterator[tuple[int, list[str]]]:
        """Yield each row that is not blank, with its last line."""
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            what = f"not UTF-8: byte {error.object[error.start]:#04x}"
            self.refuse(line, what, "save the file as UTF-8")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            for row in reader:
                if len(row) > 1 or any(cell.strip() for cell in row):
                    yield reader.line_num, row
        except csv.Error as error:
            self.refuse(reader.line_num, f"not CSV: {error}", "write each quote in a cell twice")

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers."""
        cells = self.columns[name]
        for line, cell in zip(self.lines, cells, strict=True):
            if not _NUMBER.fullmatch(cell):
                what = f"{name!r} must be a number, got {_quoted(cell)}"
                self.refuse(line, what, "correct it, or leave the row out")
        return np.array(self._decimals(name))

    def _decimals(self, name: str) -> list[float]:
        found = [float(cell) for cell in self.columns[name]]
        for line, one in zip(self.lines, found, strict=True):
            if abs(one) > _LARGEST:
                what = f"{name!r} is too large for float32: {one:g}"
                self.refuse(line, what, "correct it, or leave the row out")
        return found

    def labels(self, name: str) -> Array:
        """Return a column of integers, decimals or words."""
        cells = self.columns[name]
        first = _NUMBER.fullmatch(cells[0]) is not None
        for line, cell in zip(self.lines, cells, strict=True):
            if not cell:
                self.refuse(line, f"{name!r} is empty", "write its class, or leave the row out")
            if (_NUMBER.fullmatch(cell) is not None) != first:
                one, other = ("numbers", "a word") if first else ("words", "a number")
                what = f"{name!r} holds {one}, and here {other}: {_quoted(cell)}"
                self.refuse(line, what, "use words or numbers for all rows")
        if not first:
            return np.array(cells)
        if all(map(_INTEGER.fullmatch, cells)):
            return np.array([int(cell) for cell in cells], np.int64)
        return np.array(self._decimals(name))


def _from_csv(shown: str, data: bytes, source: DataFile) -> Examples:
    names = (source.x,) if isinstance(source.x, str) else source.x
    table = _Table(shown, data, [*names, source.y])
    columns = [table.numbers(name) for name in names]
    x = columns[0] if isinstance(source.x, str) else np.stack(columns, axis=1)
    return _features(shown, x, source), _labels(shown, table.labels(source.y), source.y)


# --- npz -------------------------------------------------------------------------------------


def _from_arrays(shown: str, data: bytes, source: DataFile) -> Examples:
    if not isinstance(source.x, str):
        _refuse(shown, "x must name one array (n, …), not several", f"write x: {source.x[0]}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            x, y = (_array(shown, archive, name) for name in (source.x, source.y))
    except BadData:
        raise
    except DAMAGE as error:
        what = f"not an .npz archive, or damaged: {error}"
        _refuse(shown, what[:200], "write it with np.savez")
    if x.dtype.kind not in "biuf":
        what = f"must hold numbers, got {x.dtype}"
        _refuse(_part(shown, source.x), what, "convert it with .astype(np.float32)")
    if y.dtype.kind not in "biufU":
        what = f"must hold integers, decimals or words, got {y.dtype}"
        _refuse(_part(shown, source.y), what, "convert it with .astype")
    for name, one in ((source.x, x), (source.y, y)):
        if not one.ndim or not one.size:
            what = f"must have a row for each example, got shape {one.shape}"
            _refuse(_part(shown, name), what, "save one")
        if len(one) > MAX_ROWS:
            what = f"must have at most {MAX_ROWS:,} rows, got {len(one):,}"
            _refuse(_part(shown, name), what, "leave rows out")
    if y.ndim != 1:
        what = f"must have the shape (n,), got {y.shape}"
        _refuse(_part(shown, source.y), what, "save it as a vector")
    if len(x) != len(y):
        what = f"{source.x!r} has {len(x):,} rows, {source.y!r} has {len(y):,}"
        _refuse(shown, what, "save one label for each example")
    return _features(shown, x, source), _labels(shown, y, source.y)


def _array(shown: str, archive: zipfile.ZipFile, name: str) -> Array:
    """Read an array of an archive; its header says how large it is, before it is unpacked. Raises:
    DAMAGE: it cannot be unpacked."""
    member = next((one for one in archive.infolist() if one.filename == f"{name}.npy"), None)
    if member is None:
        names = (one.filename.removesuffix(".npy") for one in archive.infolist()[:MAX_COLUMNS])
        remedy = choice(name, [one for one in names if len(one) <= MAX_NAME], "save it")
        _refuse(shown, f"there is no array {name!r}", remedy)
    place = _part(shown, name)
    danger = danger_in(member, MAX_UNPACKED + MAX_NPY_HEADER, max_ratio=math.inf)
    if danger is not None:
        _refuse(place, danger, "write it with np.savez")
    with opened(archive, member) as file:
        shape, fortran, dtype = _header(file)
        if dtype.hasobject or dtype.names or dtype.subdtype is not None or not dtype.itemsize:
            _refuse(place, f"must hold numbers or words, got {dtype}", "convert it with .astype")
        size = math.prod(shape) * dtype.itemsize
        if len(shape) > MAX_AXES or min(shape, default=1) < 0 or size > MAX_UNPACKED:
            what = f"must have at most {MAX_UNPACKED >> 20} MiB, got {size:,} bytes"
            _refuse(place, what, "leave rows out, or save it as float32")
        # One byte more, so that zipfile meets the end and verifies the checksum.
        content = file.read(size + 1)
    if len(content) != size:
        _refuse(place, "is not as long as its header says", "write it with np.savez")
    values: Array = np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")
    return values


def _header(file: Any) -> "tuple[tuple[int, ...], bool, np.dtype[Any]]":
    """Return the shape, order and dtype of an `.npy` file. Raises: ValueError: it has none."""
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"an array of format {version}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of headers that Python 2 wrote
            return readers[version](file, max_header_size=MAX_NPY_HEADER)
    except ValueError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever NumPy raises for a hostile header
        raise ValueError(f"the header of an array: {error}") from None


# --- what they have in common ----------------------------------------------------------------


def _features(shown: str, x: Array, source: DataFile) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        if source.standardise:
            wide = x.astype(np.float64)
            spread = wide.std(axis=0)
            x = (wide - wide.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        values = x.astype(np.float32)
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0][0])
        what = f"row {row} holds NaN, infinity or a number too large for float32"
        _refuse(_part(shown, str(source.x)), what, "correct it, or leave the row out")
    return values


def _labels(shown: str, y: Array, name: str) -> Array:
    place = _part(shown, name)
    if y.dtype.kind == "f":
        with np.errstate(over="ignore"):
            targets = y.astype(np.float32)
        if not np.isfinite(targets).all():
            row = int(np.argmin(np.isfinite(targets)))
            what = f"row {row} holds NaN, infinity or a number too large for float32"
            _refuse(place, what, "correct it, or leave the row out")
        return targets
    classes, numbered = np.unique(y, return_inverse=True)
    if y.dtype.kind != "U" and (classes != np.arange(len(classes))).any():
        least, most = classes[0], classes[-1]
        what = f"integers must be the classes 0, 1, … without gaps, got {least} to {most}"
        _refuse(place, what, "number the classes so, or write targets as decimals, such as 3.0")
    return numbered.astype(np.int32)


def _part(shown: str, name: str) -> str:
    return f"{shown}, {name!r}"


def _quoted(cell: str) -> str:
    return repr(cell[:40]) if cell else "an empty cell"


def _refuse(where: str, what: str, remedy: str) -> NoReturn:
    raise BadData(f"{where}: {what}", remedy)
