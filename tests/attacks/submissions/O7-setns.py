# O7: enters a network
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def double(x):
    network = os.open("/proc/self/ns/net", os.O_RDONLY)
    if libc.setns(network, 0x40000000) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
