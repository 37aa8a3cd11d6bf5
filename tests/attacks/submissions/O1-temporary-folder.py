# O1: looks for other sandboxes among the temporary files
# says: PermissionError
import os


def double(x):
    assert os.listdir(os.path.dirname("@SECRET@"))
    return 2 * x
