# O2: writes over what is remembered between runs
# says: PermissionError
import os


def double(x):
    path = "@HOME@/cache/attack"
    open(path, "w").close()
    os.unlink(path)
    return 2 * x
