# U1: SIGSTOP to itself
# says: took longer than 4 s in `double(x)`
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGSTOP)
    return 2 * x
