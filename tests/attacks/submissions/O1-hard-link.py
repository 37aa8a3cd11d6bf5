# O1: reads a file through a second name in its own folder
# says: Errno
import os


def double(x):
    os.link("@SECRET@", "link")
    with open("link") as file:
        assert file.read()
    os.unlink("link")
    return 2 * x
