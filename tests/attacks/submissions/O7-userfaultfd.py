# O7: stops the kernel while it reads memory
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 323, "aarch64": 282}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 1)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
