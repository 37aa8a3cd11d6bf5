# U6: SIGTERM to itself
# says: killed by SIGTERM
import os
import signal


def double(x):
    os.kill(os.getpid(), signal.SIGTERM)
    return 2 * x
