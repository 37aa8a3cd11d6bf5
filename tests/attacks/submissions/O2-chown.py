# O2: gives somebody's file away
# says: PermissionError
import os


def double(x):
    os.chown("@SECRET@", os.getuid(), os.getgid())
    os.utime("@SECRET@")
    return 2 * x
