# O3: listens to every packet
# says: PermissionError
import socket


def double(x):
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    return 2 * x
