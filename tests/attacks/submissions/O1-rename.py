# O1: moves a file into its own folder to read it there
# says: Errno
import os


def double(x):
    os.rename("@SECRET@", "mine")
    with open("mine") as file:
        assert file.read()
    os.rename("mine", "@SECRET@")
    return 2 * x
