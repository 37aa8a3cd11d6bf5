# O3: connects to this machine by TCP
# says: PermissionError
import socket


def double(x):
    socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    return 2 * x
