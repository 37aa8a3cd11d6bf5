# O8: opens the terminal it was started from
# says: PermissionError
import os


def double(x):
    os.open("/dev/tty", os.O_RDWR)
    return 2 * x
