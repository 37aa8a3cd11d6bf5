# L12: a pickle in place of an answer
# says: the answer could not be read
import gc
import os
import pickle



class Bait:
    def __reduce__(self):
        return os.mkdir, ("@OUTSIDE@",)


def double(x):
    gc.unfreeze()
    (channel,) = (thing for thing in gc.get_objects() if type(thing).__name__ == "Channel")
    os.write(channel._replies, pickle.dumps(Bait()))
    return 2 * x
