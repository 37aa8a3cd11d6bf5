# O4: writes to the memory of the process that judges it
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


class Range(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("length", ctypes.c_size_t))


def double(x):
    here = ctypes.create_string_buffer(8)
    local = Range(ctypes.addressof(here), 8)
    nowhere = Range(16, 8)
    wrote = libc.process_vm_writev(
        @PARENT@, ctypes.byref(local), 1, ctypes.byref(nowhere), 1, ctypes.c_ulong(0)
    )
    if wrote < 0 and ctypes.get_errno() != 14:  # EFAULT: it might, were there anything
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
