# L3: says "loaded" where an answer was asked for
# says: the answer could not be read
import gc
import os

from tutor.sandbox.protocol import Loaded
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    channel.send(Loaded("value#0"))
    os.read(channel._requests, 1)
