# U2: NumPy arrays without end
# says: ran out of memory
import numpy as np


def double(x):
    kept = [np.empty(10_000_000) for _ in range(40)]
    return 2 * x + 0 * len(kept)
