# O7: makes itself root in a world of its own
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def double(x):
    if libc.unshare(0x10000000) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
