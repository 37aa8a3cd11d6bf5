# O1: lists the machine's root
# says: PermissionError
import os


def double(x):
    assert os.listdir("/")
    return 2 * x
