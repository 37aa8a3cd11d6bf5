# U1: one operation in C that takes for ever and lets no other thread run
# says: s of processor time in `double(x)` and was stopped
import re


def double(x):
    return re.match("(a*)*b", "a" * 100)
