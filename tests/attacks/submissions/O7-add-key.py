# O7: leaves a key behind for others
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 248, "aarch64": 217}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, b"user", b"jaxtutor-test", b"x", ctypes.c_size_t(1), -1)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
