# O5: starts a shell (posix_spawn)
# says: PermissionError
import os


def double(x):
    assert os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "true"], {}), 0)[1] == 0
    return 2 * x
