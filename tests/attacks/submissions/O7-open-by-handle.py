# O7: opens a file by its number
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def double(x):
    handle = ctypes.create_string_buffer(b"\x08\0\0\0\x01\0\0\0" + bytes(8), 16)
    place = os.open("/usr/lib", os.O_RDONLY)
    result = libc.open_by_handle_at(place, handle, os.O_RDONLY)
    if result < 0 and ctypes.get_errno() != 116:  # ESTALE: it might, with the right number
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
