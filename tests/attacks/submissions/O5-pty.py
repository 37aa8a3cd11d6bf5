# O5: forks with a terminal of its own
# says: Error
import os
import pty


def double(x):
    child, _ = pty.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return 2 * x
