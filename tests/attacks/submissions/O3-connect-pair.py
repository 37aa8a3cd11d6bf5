# O3: connects one of a pair to an address
# says: PermissionError
import socket


def double(x):
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.connect("@DATAGRAMS@")
    ours.send(b"hello")
    return 2 * x
