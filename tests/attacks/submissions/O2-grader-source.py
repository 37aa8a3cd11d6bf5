# O2: opens the program that judges it to write
# says: PermissionError
import os


def double(x):
    open("@REPO@/tutor/engine/judge.py", "r+").close()
    return 2 * x
