# L12: the same in an array of objects, which NumPy would pickle
# says: array of dtype object
import os

import numpy as np


class Bait:
    def __reduce__(self):
        return os.mkdir, ("@OUTSIDE@",)


def double(x):
    return np.array([Bait()], dtype=object)
