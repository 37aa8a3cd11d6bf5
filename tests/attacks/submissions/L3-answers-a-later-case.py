# L3: answers the second check, rightly, while it is asked for the first
# says: asked 'value#0', answered 'again#0'
import gc
import os

import numpy as np

from tutor.sandbox.protocol import Answer
from tutor.sandbox.worker import Channel
from tutor.tree import Leaf


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    channel.send(Answer("again#0", 0.0, 0.0), Leaf(np.asarray(2 * x + 1), "jax.Array"))
    os.read(channel._requests, 1)
