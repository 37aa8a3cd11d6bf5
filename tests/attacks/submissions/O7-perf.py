# O7: counts what the machine does
# says: PermissionError
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 298, "aarch64": 241}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, struct.pack('2I2Q', 1, 112, 0, 0) + bytes(88), 0, -1, -1, ctypes.c_ulong(0))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
