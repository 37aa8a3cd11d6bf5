# O5: becomes a program that it has open
# says: PermissionError
import os


def double(x):
    program = os.open("/bin/true", os.O_PATH)
    os.execve(program, ["true"], {})
    return 2 * x
