# U7: well-formed answers without end
# says: the answer could not be read
import gc
import os

from tutor.sandbox.protocol import Loaded
from tutor.sandbox.wire import encode
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    frames = encode(Loaded("value#0")) * 10_000
    while True:
        os.write(channel._replies, frames)
