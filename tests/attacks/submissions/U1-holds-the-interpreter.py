# U1: one operation in C that takes for ever and lets no other thread run
# says: took longer than 4 s in `double(x)`
import re


def double(x):
    return re.match("(a*)*b", "a" * 100)
