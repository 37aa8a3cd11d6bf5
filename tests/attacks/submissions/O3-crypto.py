# O3: asks the kernel to encrypt
# says: PermissionError
import socket


def double(x):
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0)
    return 2 * x
