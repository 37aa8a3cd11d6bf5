# O4: sets another process's priority
# says: PermissionError
import os


def double(x):
    os.setpriority(os.PRIO_PROCESS, @SIBLING@, os.getpriority(os.PRIO_PROCESS, @SIBLING@))
    return 2 * x
