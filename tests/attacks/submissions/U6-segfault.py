# U6: a segfault
# says: killed by SIGSEGV while running `double(x)`
import ctypes


def double(x):
    ctypes.string_at(0)
    return 2 * x
