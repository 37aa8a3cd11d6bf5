# O7: mounts a file system
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def double(x):
    os.makedirs("here", exist_ok=True)
    if libc.mount(b"none", b"here", b"tmpfs", ctypes.c_ulong(0), None) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    libc.umount2(b"here", 2)
    return 2 * x
