# O1: asks to be told of changes in a folder
# says: PermissionError
import fcntl
import os


def double(x):
    fcntl.fcntl(os.open(".", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_CREATE)
    return 2 * x
