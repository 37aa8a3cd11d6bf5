# O4: has a pair of sockets signal another process
# says: PermissionError
import array
import fcntl
import os
import socket

FIOSETOWN = 0x8901


def double(x):
    ours, theirs = socket.socketpair()
    fcntl.ioctl(ours, FIOSETOWN, array.array("i", [@SIBLING@]))
    fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC)
    theirs.send(b"x")
    return 2 * x
