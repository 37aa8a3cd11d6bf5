# O7: keeps files in memory where nothing counts them
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 319, "aarch64": 279}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, b"x", 0)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
