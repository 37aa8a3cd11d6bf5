# O1: reads a file through a link in its own folder
# says: PermissionError
import os


def double(x):
    if not os.path.lexists("link"):  # it is called more than once
        os.symlink("@SECRET@", "link")
    with open("link") as file:
        assert file.read()
    return 2 * x
