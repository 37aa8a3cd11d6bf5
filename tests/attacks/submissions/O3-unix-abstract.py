# O3: connects to a socket without a path
# says: PermissionError
import socket


def double(x):
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.connect("\0@ABSTRACT@")
    return 2 * x
