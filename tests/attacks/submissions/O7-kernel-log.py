# O7: reads the kernel's log
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 103, "aarch64": 116}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 10, None, 0)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
