"""Data that ships with jaxtutor."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DATA = Path(__file__).parents[1] / "data"


@cache
def digits() -> "tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]":
    """1,797 handwritten digits, 8×8 pixels each.

    **Returns:** `x` float32 (1797, 64), grey values 0–16 brought to about mean 0 and spread 1 as
    `(grey - 5) / 6`, and `y` int32 (1797,), the digit. Source and licence:
    `tutor/data/DIGITS-LICENSE.md`.
    """
    import numpy as np

    with np.load(DATA / "digits.npz", allow_pickle=False) as archive:
        return (archive["x"].astype(np.float32) - 5) / 6, archive["y"].astype(np.int32)
