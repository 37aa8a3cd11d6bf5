# U3: forks without end
# says: PermissionError
import os


def double(x):
    for _ in range(20):
        if os.fork() == 0:
            os._exit(0)
    return 2 * x
