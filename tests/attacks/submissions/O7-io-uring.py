# O7: asks for a queue that opens files out of sight
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 425, "aarch64": 425}[os.uname().machine]


def double(x):
    result = libc.syscall(CALL, 1, ctypes.create_string_buffer(120))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
