# U3: starts a program by the C library, which does it without fork
# says: OSError
import ctypes
import sys


def double(x):
    libc = ctypes.CDLL(None)
    pid = ctypes.c_int()
    program = sys.executable.encode()
    arguments = (ctypes.c_char_p * 4)(program, b"-c", b"", None)
    error = libc.posix_spawn(ctypes.byref(pid), program, None, None, arguments, None)
    if error:
        raise OSError(error, "posix_spawn")
    return 2 * x
