# O3: sends to an address from one of a pair
# says: PermissionError
import socket


def double(x):
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.sendto(b"hello", "@DATAGRAMS@")
    return 2 * x
