# O7: takes a tree of files out of the mounts
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 428, "aarch64": 428}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, os.open("/usr/lib", os.O_PATH), b"", 0x1001)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
