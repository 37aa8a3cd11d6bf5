# O1: reads a file through a link in its own folder
# says: PermissionError
import os


def double(x):
    os.symlink("@SECRET@", "link")
    with open("link") as file:
        assert file.read()
    return 2 * x
