# O4: makes a descriptor of itself
# says: PermissionError
import os


def double(x):
    os.pidfd_open(os.getpid())
    return 2 * x
