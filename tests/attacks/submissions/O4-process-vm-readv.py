# O4: reads another process's memory
# says: PermissionError
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


class Range(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("length", ctypes.c_size_t))


def double(x):
    # An address of its own: nothing there in the other is EFAULT, and that would do as well.
    there = ctypes.create_string_buffer(8)
    here = ctypes.create_string_buffer(8)
    local = Range(ctypes.addressof(here), 8)
    remote = Range(ctypes.addressof(there), 8)
    read = libc.process_vm_readv(
        @SIBLING@, ctypes.byref(local), 1, ctypes.byref(remote), 1, ctypes.c_ulong(0)
    )
    if read < 0 and ctypes.get_errno() != 14:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return 2 * x
