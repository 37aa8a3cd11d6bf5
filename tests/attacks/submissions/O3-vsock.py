# O3: opens a socket to the host of a virtual machine
# says: PermissionError
import socket


def double(x):
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM, 0)
    return 2 * x
