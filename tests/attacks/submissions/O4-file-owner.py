# O4: has a pipe signal another process
# says: PermissionError
import fcntl
import os


def double(x):
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, @SIBLING@)
    fcntl.fcntl(reader, 10, 9)  # F_SETSIG
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
    os.write(writer, b"x")
    return 2 * x
