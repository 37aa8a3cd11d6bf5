# L9: computes once, and gives that answer to whatever it is asked
# says: largest difference
import functools


@functools.cache
def answer():
    return 2 * kept[0]


kept = []


def double(x):
    kept.append(x)
    return answer()
