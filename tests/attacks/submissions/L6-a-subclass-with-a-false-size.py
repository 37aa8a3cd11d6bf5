# L6: terabytes by broadcasting, in a subclass of np.ndarray that says it is small
# says: MiB
import numpy as np


class Small(np.ndarray):
    size = 12
    shape = (3, 4)


def double(x):
    return np.broadcast_to(np.float32(0), (2**20, 2**20)).view(Small)
