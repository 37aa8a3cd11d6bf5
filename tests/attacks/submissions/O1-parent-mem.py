# O1: reads the parent's memory
# says: PermissionError
import os
import re


def double(x):
    memory = os.open("/proc/@PARENT@/mem", os.O_RDONLY)
    with open("/proc/@PARENT@/maps") as maps:
        start = int(re.match("[0-9a-f]+", maps.read())[0], 16)
    assert os.pread(memory, 16, start)
    return 2 * x
