# O4: queues a signal to another process
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def double(x):
    if libc.sigqueue(@SIBLING@, 9, ctypes.c_void_p(0)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
