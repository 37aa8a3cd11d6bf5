# L12: the same in an exception
# says: Bait
import os


class Bait(Exception):
    def __reduce__(self):
        return os.mkdir, ("@OUTSIDE@",)


def double(x):
    raise Bait("look at me")
