# O7: asks for the number of a file
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def double(x):
    handle = ctypes.create_string_buffer(b"\x80\0\0\0", 200)
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, b"@SECRET@", handle, ctypes.byref(mount), 0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
