# U6: recursion without end once Python's own limit is lifted
# says: `double(x)` | RecursionError
import sys

sys.setrecursionlimit(1 << 30)


class Deep:
    def __eq__(self, other):
        return [Deep()] == [Deep()]


def double(x):
    return Deep() == Deep()
