# U7: an answer whose header is nested a million deep
# says: the answer could not be read
import gc
import os

from tutor.sandbox.wire import MAGIC, PREFIX
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    header = b'{"message":{},"arrays":[],"tree":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"
    frame = PREFIX.pack(MAGIC, len(header), 0) + header
    while frame:
        frame = frame[os.write(channel._replies, frame) :]
