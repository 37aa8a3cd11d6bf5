# O7: opens a socket past the library
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 41, "aarch64": 198}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 2, 1, 0)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
