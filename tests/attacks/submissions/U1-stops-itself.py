# U1: SIGSTOP to itself
# says: s without computing in `double(x)` and was stopped
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGSTOP)
    return 2 * x
