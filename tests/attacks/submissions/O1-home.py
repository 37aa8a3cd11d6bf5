# O1: lists jaxtutor's own home
# says: PermissionError
import os


def double(x):
    assert os.listdir("@HOME@")
    return 2 * x
