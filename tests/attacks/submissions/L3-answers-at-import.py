# L3: answers the first check while it is still being imported
# says: expected a reply to 'load', got 'value#0'
import gc
import os

import numpy as np

from tutor.sandbox.protocol import Answer
from tutor.tree import Leaf

gc.unfreeze()
(channel,) = (thing for thing in gc.get_objects() if type(thing).__name__ == "Channel")
channel.send(Answer("value#0", 0.0, 0.0), Leaf(np.zeros((3, 4), np.float32), "jax.Array"))
os.read(channel._requests, 1)
