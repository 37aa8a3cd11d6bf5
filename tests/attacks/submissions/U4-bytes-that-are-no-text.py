# U4: bytes that are no text, without end
# says: printed more than 64 KiB
import os


def double(x):
    for _ in range(100_000):
        os.write(1, bytes(range(256)) * 256)
    return 2 * x
