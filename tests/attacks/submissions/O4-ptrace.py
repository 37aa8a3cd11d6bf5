# O4: traces another process
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
SEIZE = 0x4206
TRACED = []


def double(x):
    if TRACED:  # it is called more than once
        return 2 * x
    TRACED.append(True)
    if libc.ptrace(SEIZE, @SIBLING@, None, None) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
