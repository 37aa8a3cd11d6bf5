# O3: sends a datagram to this machine
# says: PermissionError
import socket


def double(x):
    door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    door.sendto(b"hello", ("127.0.0.1", @UDP@))
    return 2 * x
