# L4: os._exit(0) when called
# says: your code ended the process while running `double(x)` (exit code 0)
import os


def double(x):
    os._exit(0)
