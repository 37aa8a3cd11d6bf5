# L6: an array of records
# says: array of dtype
import numpy as np


def double(x):
    return np.zeros(x.shape, [("value", "f4")])
