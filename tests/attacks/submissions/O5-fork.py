# O5: forks
# says: PermissionError
import os


def double(x):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return 2 * x
