# U7: half an answer before the right one
# says: the answer could not be read
import gc
import os

from tutor.sandbox.protocol import Loaded
from tutor.sandbox.wire import encode
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    os.write(channel._replies, encode(Loaded("value#0"))[:30])
    return 2 * x
