# O7: gives the kernel a program's map
# says: PermissionError
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 321, "aarch64": 280}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 0, struct.pack('4I', 1, 4, 4, 1) + bytes(56), 72)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
