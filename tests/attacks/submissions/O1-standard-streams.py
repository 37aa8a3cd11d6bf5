# O1: opens what it was given as standard input anew, and climbs from there
# says: PermissionError
import os


def double(x):
    for number in range(3):
        folder = os.path.dirname(os.path.realpath(f"/proc/self/fd/{number}"))
        if os.path.isdir(folder):
            assert os.listdir(folder)
    with open("/dev/../@SECRET@") as file:
        assert file.read()
    return 2 * x
