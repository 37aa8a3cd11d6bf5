# L2: starts the conversation anew
# says: the answer could not be read
import gc

from tutor.sandbox.protocol import Ready
from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    channel.send(Ready({}, 1, "cpu", []))
    return 2 * x
