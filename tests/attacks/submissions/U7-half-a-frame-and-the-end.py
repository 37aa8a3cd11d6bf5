# U7: half an answer, and the end
# says: your code ended the process
import gc
import os

from tutor.sandbox.protocol import Loaded
from tutor.sandbox.wire import encode
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    os.write(channel._replies, encode(Loaded("value#0"))[:30])
    os._exit(0)
