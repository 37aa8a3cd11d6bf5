# U6: the signal that says that its processor time is used up
# says: used up the processor time of its process
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGXCPU)
    return 2 * x
