# O2: writes through a link in its own folder
# says: PermissionError
import os


def double(x):
    os.symlink("@OUTSIDE@", "link")
    with open("link", "w") as file:
        file.write("here")
    return 2 * x
