# O7: watches every file of a disk
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 300, "aarch64": 262}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 0x200, 0)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
