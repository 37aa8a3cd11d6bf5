# L4: ends the process by the C library, atexit handlers and all
# says: your code ended the process
import ctypes


def double(x):
    ctypes.CDLL(None).exit(0)
