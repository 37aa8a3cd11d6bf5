# O3: resolves a name
# says: gaierror
import socket


def double(x):
    assert socket.getaddrinfo("localhost", 80)
    return 2 * x
