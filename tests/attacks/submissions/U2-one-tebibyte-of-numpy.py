# U2: one array of a tebibyte
# says: ran out of memory
import numpy as np


def double(x):
    kept = np.zeros(1 << 37)
    return 2 * x + 0 * kept[0]
