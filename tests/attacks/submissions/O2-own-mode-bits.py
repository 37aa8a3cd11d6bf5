# O2: makes a file of its own that runs as its owner
# says: PermissionError
import os


def double(x):
    open("mine", "w").close()
    os.chmod("mine", 0o4755)
    return 2 * x
