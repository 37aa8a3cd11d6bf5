# L9: a clock that returns NaN, and a wrong answer
# says: largest difference
import time

time.perf_counter = lambda: float("nan")
time.monotonic = time.perf_counter


def double(x):
    return 3 * x
