# O7: asks for the older queue that reads and writes files out of sight
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 206, "aarch64": 0}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 128, ctypes.byref(ctypes.c_ulong(0)))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
