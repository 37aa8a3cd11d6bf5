# O6: leaves a process behind that belongs to nobody
# says: PermissionError
import os
import time


def double(x):
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(3)
        os._exit(0)
    os.waitpid(child, 0)
    return 2 * x
