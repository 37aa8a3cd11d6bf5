# O4: ends a thread
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 200, "aarch64": 130}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, @SIBLING@, 9)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
