# O5: becomes a program by its place
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 322, "aarch64": 281}[os.uname().machine]


def double(x):
    place = os.open("/bin/true", os.O_PATH)
    result = libc.syscall(CALL, place, b"", (ctypes.c_char_p * 2)(b"true", None), None, 0x1000)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
