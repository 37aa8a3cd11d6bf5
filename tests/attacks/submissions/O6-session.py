# O6: leaves the session that is killed at the end
# says: PermissionError
import os


def double(x):
    os.setsid()
    return 2 * x
