# U7: puts a pipe of its own where the answers go
# says: the pipe for answers
import gc
import os

from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    _, writing = os.pipe()
    os.dup2(writing, channel._replies)
    return 2 * x
