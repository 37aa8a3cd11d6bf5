# O4: signals every process there is (0: may I?)
# says: PermissionError
import os


def double(x):
    os.kill(-1, 0)
    return 2 * x
