# O1: opens a folder only as a place, and a file in it from there
# says: PermissionError
import os


def double(x):
    place, name = os.path.split("@SECRET@")
    folder = os.open(place, os.O_PATH)
    file = os.open(name, os.O_RDONLY, dir_fd=folder)
    assert os.read(file, 1)
    return 2 * x
