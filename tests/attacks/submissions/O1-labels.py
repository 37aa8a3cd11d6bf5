# O1: reads the labels of a data set out of the installed package
# says: PermissionError
import pathlib

import tutor


def double(x):
    data = pathlib.Path(tutor.__file__).parent / "data"
    for path in sorted(data.iterdir()):
        with path.open("rb") as file:
            assert file.read(1)
    return 2 * x
