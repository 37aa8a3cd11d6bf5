# O7: takes the bounds off its own folder
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def double(x):
    if libc.umount2(os.getcwd().encode(), 2) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
