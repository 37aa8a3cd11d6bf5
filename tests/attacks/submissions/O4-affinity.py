# O4: moves another process to other processors
# says: PermissionError
import os


def double(x):
    os.sched_setaffinity(@SIBLING@, os.sched_getaffinity(@SIBLING@))
    return 2 * x
