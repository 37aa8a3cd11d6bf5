# O7: clones itself with the newer call
# says: Function not implemented
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
CLONE3, SIGCHLD = 435, 17


def double(x):
    wanted = struct.pack("8Q", 0, 0, 0, 0, SIGCHLD, 0, 0, 0)
    child = libc.syscall(CLONE3, wanted, len(wanted))
    if child < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return 2 * x
