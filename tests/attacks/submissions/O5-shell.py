# O5: becomes a shell
# says: PermissionError
import os


def double(x):
    os.execv("/bin/sh", ["sh", "-c", "true"])
    return 2 * x
