# O2: gives somebody's file a second name outside
# says: Errno
import os


def double(x):
    os.link("@SECRET@", "@OUTSIDE@")
    return 2 * x
