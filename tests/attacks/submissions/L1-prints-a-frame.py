# L1: writes a right answer in the wire format to standard output and standard error
# says: largest difference
import os

import numpy as np

from tutor.sandbox.protocol import Answer
from tutor.sandbox.wire import encode
from tutor.tree import Leaf


def double(x):
    frame = encode(Answer("value#0", 0.0, 0.0), Leaf(np.asarray(2 * x), "jax.Array"))
    os.write(1, frame)
    os.write(2, frame)
    return 3 * x
