# O2: gives somebody's file a second name outside
# says: Errno
import os


def double(x):
    if not os.path.lexists("@OUTSIDE@"):  # it is called more than once
        os.link("@SECRET@", "@OUTSIDE@")
    return 2 * x
