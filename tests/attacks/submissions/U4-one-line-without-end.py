# U4: one line without end, by the descriptor
# says: printed more than 64 KiB
import os


def double(x):
    for _ in range(100_000):
        os.write(1, b"y" * 65536)
    return 2 * x
