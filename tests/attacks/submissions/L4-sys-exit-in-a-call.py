# L4: sys.exit(0) when called
# says: your code ended the process
import sys


def double(x):
    sys.exit(0)
