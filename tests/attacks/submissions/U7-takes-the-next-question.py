# U7: reads the questions away
# says: s without computing in `double(x)` and was stopped
import gc
import os
import threading

from tutor.sandbox.worker import Channel


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if isinstance(thing, Channel))
    for _ in range(20):
        threading.Thread(target=os.read, args=(channel._requests, 1 << 20), daemon=True).start()
    return 2 * x
