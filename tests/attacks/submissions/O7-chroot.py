# O7: makes its folder the root
# says: PermissionError
import os


def double(x):
    os.chroot(".")
    return 2 * x
