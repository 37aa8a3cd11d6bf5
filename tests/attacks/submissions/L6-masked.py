# L6: a masked array in which every wrong element is masked
# says: largest difference
import numpy as np


def double(x):
    return np.ma.masked_array(np.asarray(3 * x), mask=True)
