# U4: the same on standard error, at import
# says: printed more than 64 KiB
import sys

for _ in range(100_000):
    sys.stderr.write("y" * 65536)


def double(x):
    return 2 * x
