# L5: right, beside an imaginary NaN
# says: NaN
import numpy as np


def double(x):
    return np.asarray(2 * x) + 1j * np.float32("nan")
