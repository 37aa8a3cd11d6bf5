"""The data sets that ship with jaxtutor.

To add one, put its archive and its licence into `tutor/data` and an entry into `DATASETS`. Its name
becomes a draw (`digits(2, 64)`) and a value of `data` in `train` checks. Sandboxes can read nothing
in `tutor/data`, so they never see labels that are held back.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Examples = tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]

DATA = Path(__file__).parents[1] / "data"


class Dataset(NamedTuple):
    """One entry. `features` (n, width) and `labels` (n,) name arrays of the archive `file`."""

    name: str
    file: str
    licence: str
    features: str
    labels: str
    shift: float
    scale: float
    """Features are given out as `(raw - shift) / scale`, so about mean 0 and spread 1."""

    def load(self) -> "Examples":
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
def _load(dataset: Dataset) -> "Examples":
    import numpy as np

    with np.load(DATA / dataset.file, allow_pickle=False) as archive:
        features = archive[dataset.features].astype(np.float32)
        labels = archive[dataset.labels].astype(np.int32)
    return (features - dataset.shift) / dataset.scale, labels
