# L3: answers both checks, rightly, at the first question
# says: the answer could not be read
import gc
import os

import numpy as np

from tutor.sandbox.protocol import Answer
from tutor.sandbox.wire import encode
from tutor.sandbox.worker import Channel
from tutor.tree import Leaf


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    both = (("value#0", 2 * x), ("again#0", 2 * x + 1))
    frames = [
        encode(Answer(case, 0.0, 0.0), Leaf(np.asarray(answer), "jax.Array"))
        for case, answer in both
    ]
    os.write(channel._replies, b"".join(frames))
    os.read(channel._requests, 1)
