# O5: starts a shell (system)
# says: AssertionError
import os


def double(x):
    assert os.system("true") == 0, "refused"
    return 2 * x
