# O7: loads a library out of its own folder to open a socket with
# says: Error
import ctypes
import re
import shutil
import socket


def double(x):
    with open("/proc/self/maps") as maps:
        library = re.search(r"/\S*/libm[.-]\S*", maps.read())[0]
    shutil.copyfile(library, "own.so")
    ctypes.CDLL("./own.so")
    socket.socket()
    return 2 * x
