# U7: an answer that comes byte by byte
# says: s without computing in `double(x)` and was stopped
import gc
import os
import time

from tutor.sandbox.protocol import Loaded
from tutor.sandbox.wire import encode
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    for byte in encode(Loaded("value#0")):
        os.write(channel._replies, bytes([byte]))
        time.sleep(0.5)
