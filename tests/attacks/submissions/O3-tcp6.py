# O3: opens a socket of IPv6
# says: PermissionError
import socket


def double(x):
    socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    return 2 * x
