# O5: forks with a call that C has no name for
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
SIGCHLD = 17


def double(x):
    child = libc.syscall(CLONE, SIGCHLD, None, None, None, None)
    if child < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return 2 * x
