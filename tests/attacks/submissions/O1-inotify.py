# O1: watches somebody's folder for names
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
IN_ALL = 0xFFF


def double(x):
    queue = libc.inotify_init1(0)
    if libc.inotify_add_watch(queue, os.path.dirname("@SECRET@").encode(), IN_ALL) < 0:
        raise OSError(ctypes.get_errno(), "inotify_add_watch")
    return 2 * x
