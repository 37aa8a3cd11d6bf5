# O2: makes a named pipe outside
# says: PermissionError
import os


def double(x):
    if not os.path.lexists("@OUTSIDE@"):  # it is called more than once
        os.mkfifo("@OUTSIDE@")
    return 2 * x
