# O3: asks the kernel about the network
# says: PermissionError
import socket


def double(x):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    return 2 * x
