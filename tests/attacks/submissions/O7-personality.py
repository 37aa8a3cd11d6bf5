# O7: asks for memory where it can be foreseen
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 135, "aarch64": 92}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 0x0040000)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
