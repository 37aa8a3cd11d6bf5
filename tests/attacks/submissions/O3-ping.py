# O3: opens a socket for pings
# says: PermissionError
import socket


def double(x):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    return 2 * x
