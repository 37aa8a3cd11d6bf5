# O4: hides from being looked at
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def double(x):
    if libc.prctl(4, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
