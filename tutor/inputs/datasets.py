"""Data sets: those that ship with jaxtutor, and the data files of a pack.

To add one that ships with jaxtutor, put its archive and its licence into `tutor/data` and an entry
into `DATASETS`. A lesson lists those of its pack under `data:`. The name of either is a draw
(`digits(2, 64)`) and a value of `data` in checks that train. Sandboxes can read neither
`tutor/data` nor packs, so they never see labels that are held back.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple, Protocol, TypeAlias

from msgspec import Meta, Struct

from tutor.arrays import Array, np

Examples: TypeAlias = "tuple[Array, Array]"
"""Features and labels; see `Source.load`."""

DATA = Path(__file__).parents[1] / "data"


class Source(Protocol):
    """A data set, however it is stored."""

    @property
    def name(self) -> str: ...

    def load(self) -> Examples:
        """Return features float32 (n, …), and for each row its class int32 from 0 up, or its target
        float32. Raises: tutor.inputs.drawing.DrawError: it cannot be read."""
        ...


Datasets: TypeAlias = Mapping[str, Source]


class Dataset(NamedTuple):
    """One entry of `DATASETS`. `features` (n, width) and `labels` (n,) name arrays of `file`."""

    name: str
    file: str
    licence: str
    features: str
    labels: str
    shift: float
    scale: float
    """Features are given out as `(raw - shift) / scale`, so about mean 0 and spread 1."""

    def load(self) -> Examples:
        """Return scaled features float32 (n, width) and labels int32 (n,), from 0 up."""
        return _load(self)


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "digits", "digits.npz", "DIGITS-LICENSE.md", features="x", labels="y", shift=5, scale=6
        ),
    )
}


@cache
def _load(dataset: Dataset) -> Examples:
    with np.load(DATA / dataset.file, allow_pickle=False) as archive:
        features = archive[dataset.features].astype(np.float32)
        labels = archive[dataset.labels].astype(np.int32)
    return (features - dataset.shift) / dataset.scale, labels


# --- data files of packs -----------------------------------------------------------------------

DATA_FILE = r"^[A-Za-z0-9][A-Za-z0-9_-]*\.(csv|npz)$(?!\n)"

_Name = Annotated[str, Meta(min_length=1, max_length=200)]


class DataFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A data set of a lesson: two parts of a file in the directory `data/` of its pack."""

    file: Annotated[
        str,
        Meta(
            pattern=DATA_FILE,
            max_length=100,
            description="Name of a file in the pack's directory `data`: a CSV file with a row of "
            "column names, or an `.npz` archive of NumPy arrays.",
        ),
    ]
    x: Annotated[
        _Name | Annotated[tuple[_Name, ...], Meta(min_length=1)],
        Meta(
            description="The features: a column (n,), a list of columns (n, columns), or an array "
            "(n, …) of the archive. They become float32."
        ),
    ]
    y: Annotated[
        _Name,
        Meta(
            description="The labels: a column or an array (n,). Integers from 0, and words in "
            "sorted order, are classes; decimals are targets."
        ),
    ]
    standardise: Annotated[
        bool, Meta(description="Whether the features get mean 0 and spread 1, column by column.")
    ] = False
    about: Annotated[
        str, Meta(max_length=1000, description="Where the data comes from, and its licence.")
    ] = ""
    path: str = ""
    sha256: str = ""
    """Where the file is, and a checksum of its contents, set by the reader of the pack."""

    NOT_IN_YAML: ClassVar[tuple[str, ...]] = ("path", "sha256")

    def __repr__(self) -> str:
        # A lesson's `repr` is a cache key: it changes with the contents, but not with the place.
        return f"DataFile({self.file!r}, {self.x!r}, {self.y!r}, {self.standardise}, {self.sha256})"


READING = "data: "
"""What `Fault.running` begins with if a data file cannot be used; the name of the data set
follows."""


class PackData(NamedTuple):
    """A data file under the name that the lesson gives it."""

    name: str
    file: DataFile

    def load(self) -> Examples:
        from tutor.inputs.data_files import BadData, load

        try:
            return load(self.file)
        except BadData as error:
            error.part = f"{READING}{self.name}"
            raise


def with_data(data: Mapping[str, DataFile]) -> Datasets:
    """Return all data sets that a lesson may use: those that ship with jaxtutor, and its own."""
    return {**DATASETS, **{name: PackData(name, file) for name, file in data.items()}}
