# L12: an object that would make a directory when it is unpickled
# says: expected an array
import os


class Bait:
    def __reduce__(self):
        return os.mkdir, ("@OUTSIDE@",)


def double(x):
    return Bait()
