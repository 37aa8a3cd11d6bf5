# O4: sets how another process is scheduled
# says: PermissionError
import os


def double(x):
    os.sched_setscheduler(@SIBLING@, os.SCHED_BATCH, os.sched_param(0))
    return 2 * x
