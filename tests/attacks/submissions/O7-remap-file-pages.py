# O7: has pages of a mapped file change places
# says: PermissionError
import ctypes
import mmap
import os

libc = ctypes.CDLL(None, use_errno=True)
CALL = {"x86_64": 216, "aarch64": 234}[os.uname().machine]


def double(x):
    with open("pages", "wb+") as file:
        file.truncate(2 * mmap.PAGESIZE)
        memory = mmap.mmap(file.fileno(), 2 * mmap.PAGESIZE)
    place = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if libc.syscall(CALL, ctypes.c_void_p(place), ctypes.c_ulong(mmap.PAGESIZE), 0, 1, 0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
