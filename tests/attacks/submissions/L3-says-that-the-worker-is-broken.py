# L3: puts the blame on jaxtutor
# says: value
import gc
import os

from tutor.sandbox.protocol import Broken
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    channel.send(Broken("value#0", "out of order, please pass everybody"))
    os.read(channel._requests, 1)
