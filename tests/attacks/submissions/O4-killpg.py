# O4: signals the group of the process that judges it (0: may I?)
# says: PermissionError
import os


def double(x):
    os.killpg(os.getpgid(@PARENT@), 0)
    return 2 * x
