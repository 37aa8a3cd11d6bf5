# O3: sends to a socket with a path
# says: PermissionError
import socket


def double(x):
    door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    door.sendto(b"hello", "@DATAGRAMS@")
    return 2 * x
