# L9: a clock that runs backwards, and a wrong answer
# says: largest difference
import time

started = time.perf_counter()
time.perf_counter = lambda: -time.monotonic()


def double(x):
    return 3 * x
