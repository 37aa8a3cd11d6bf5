# O3: connects to a server on this machine
# says: PermissionError
import socket


def double(x):
    socket.create_connection(("127.0.0.1", @TCP@), 1)
    return 2 * x
