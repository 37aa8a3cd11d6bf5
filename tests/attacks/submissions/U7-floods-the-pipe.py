# U7: zeros without end where the answers go
# says: the answer could not be read: expected a frame
import gc
import os

from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    while True:
        os.write(channel._replies, bytes(1 << 20))
