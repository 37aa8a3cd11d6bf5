# O1: opens a file only as a place, and that place for reading
# says: PermissionError
import os


def double(x):
    place = os.open("@SECRET@", os.O_PATH)
    file = os.open(f"/proc/self/fd/{place}", os.O_RDONLY)
    assert os.read(file, 1)
    return 2 * x
