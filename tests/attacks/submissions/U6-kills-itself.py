# U6: SIGKILL to itself
# says: killed by SIGKILL
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGKILL)
    return 2 * x
