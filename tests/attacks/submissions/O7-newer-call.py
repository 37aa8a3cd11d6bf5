# O7: makes a call that nobody knew when the filter was written
# says: Function not implemented
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 463, "aarch64": 463}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, -100, b"@SECRET@", 0, None, ctypes.c_size_t(0))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
