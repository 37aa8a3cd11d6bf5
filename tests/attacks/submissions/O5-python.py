# O5: becomes another Python
# says: PermissionError
import os
import sys


def double(x):
    os.execv(sys.executable, [sys.executable, "-c", ""])
    return 2 * x
