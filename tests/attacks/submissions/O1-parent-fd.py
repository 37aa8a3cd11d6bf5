# O1: opens what the parent has open
# says: PermissionError
import os


def double(x):
    assert os.listdir("/proc/@PARENT@/fd")
    os.open("/proc/@PARENT@/fd/0", os.O_RDONLY)
    return 2 * x
