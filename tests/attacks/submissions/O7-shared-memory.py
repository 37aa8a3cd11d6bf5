# O7: makes memory that outlives it
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 29, "aarch64": 194}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 0, ctypes.c_size_t(4096), 0o1600)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
