# O1: climbs out of a folder that it may open
# says: PermissionError
import os


def double(x):
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    file = os.open("../" * 40 + "@SECRET@".lstrip("/"), os.O_RDONLY, dir_fd=folder)
    assert os.read(file, 1)
    return 2 * x
