# O7: looks into the keys of its session
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 250, "aarch64": 219}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 0, -3, 1)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
