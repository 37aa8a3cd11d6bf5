# O3: sends a message to an address from one of a pair
# says: PermissionError
import socket


def double(x):
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.sendmsg([b"hello"], [], 0, "@DATAGRAMS@")
    return 2 * x
