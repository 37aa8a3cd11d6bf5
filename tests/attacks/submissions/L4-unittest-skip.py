# L4: skips by unittest
# says: SkipTest: not today
import unittest


def double(x):
    raise unittest.SkipTest("not today")
