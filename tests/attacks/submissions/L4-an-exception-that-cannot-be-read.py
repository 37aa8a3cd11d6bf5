# L4: an exception that lies about itself and exits when it is looked at
# says: (its message could not be read)
import sys


class Innocent(BaseException):
    def __str__(self):
        sys.exit(0)

    __repr__ = __str__


def double(x):
    raise Innocent
