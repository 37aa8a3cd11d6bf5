# O2: writes through a link in its own folder
# says: PermissionError
import os


def double(x):
    if not os.path.lexists("link"):  # it is called more than once
        os.symlink("@OUTSIDE@", "link")
    with open("link", "w") as file:
        file.write("here")
    return 2 * x
