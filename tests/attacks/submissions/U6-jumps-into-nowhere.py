# U6: calls what is no function
# says: killed by SIGSEGV
import ctypes


def double(x):
    ctypes.CFUNCTYPE(None)(16)()
    return 2 * x
