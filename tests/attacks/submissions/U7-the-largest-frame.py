# U7: as large an answer as is accepted at all, again and again
# says: the answer could not be read
import gc
import os

from tutor.sandbox.wire import MAGIC, MAX_BODY, PREFIX
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    os.write(channel._replies, PREFIX.pack(MAGIC, 2, MAX_BODY) + b"{}")
    while True:
        os.write(channel._replies, bytes(1 << 20))
