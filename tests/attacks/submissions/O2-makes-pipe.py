# O2: makes a named pipe outside
# says: PermissionError
import os


def double(x):
    os.mkfifo("@OUTSIDE@")
    return 2 * x
