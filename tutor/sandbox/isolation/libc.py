"""The C library: system calls that Python has no function for."""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> int:
    """Return the result of a call. Raises: OSError: it is negative, so the call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
