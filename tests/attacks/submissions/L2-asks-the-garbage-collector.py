# L2: finds the conversation among all objects and sends a right answer beside the wrong one
# says: the answer could not be read
import gc

import numpy as np

from tutor.sandbox.protocol import Answer
from tutor.sandbox.worker import Channel
from tutor.tree import Leaf


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    right = Leaf(np.asarray(2 * x), "jax.Array")
    channel.send(Answer("value#0", 0.0, 0.0), right)
    return 3 * x
