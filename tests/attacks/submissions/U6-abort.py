# U6: abort
# says: killed by SIGABRT
import os


def double(x):
    os.abort()
