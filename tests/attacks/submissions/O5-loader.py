# O5: has the dynamic loader run a program
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
LOADER = {
    "x86_64": b"/lib64/ld-linux-x86-64.so.2",
    "aarch64": b"/lib/ld-linux-aarch64.so.1",
}[os.uname().machine]


def double(x):
    if libc.execv(LOADER, (ctypes.c_char_p * 3)(LOADER, b"/bin/true", None)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
