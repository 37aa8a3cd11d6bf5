# U7: announces an answer of terabytes
# says: frame too large
import gc
import os

from tutor.sandbox.wire import MAGIC, PREFIX
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    os.write(channel._replies, PREFIX.pack(MAGIC, 100, 1 << 42))
    return 2 * x
