# O3: listens
# says: PermissionError
import socket


def double(x):
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    return 2 * x
