# O3: gives one of a pair an address
# says: PermissionError
import socket


def double(x):
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.bind("door")
    return 2 * x
