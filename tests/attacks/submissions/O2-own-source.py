# O2: opens the file it was submitted in to write
# says: PermissionError
import os


def double(x):
    open("@OTHER@", "r+").close()
    return 2 * x
