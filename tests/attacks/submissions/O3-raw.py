# O3: opens a raw socket
# says: PermissionError
import socket


def double(x):
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    return 2 * x
