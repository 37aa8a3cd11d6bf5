# O3: listens in its own folder
# says: PermissionError
import socket


def double(x):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind("door")
    server.listen()
    return 2 * x
