# U7: half an answer, and then nothing
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
    os.write(channel._replies, encode(Loaded("value#0"))[:30])
    time.sleep(60)
