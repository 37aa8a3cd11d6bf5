# O3: makes a pair of another family
# says: PermissionError
import socket


def double(x):
    socket.socketpair(socket.AF_TIPC, socket.SOCK_STREAM)
    return 2 * x
