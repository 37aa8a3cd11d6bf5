# U5: files that have no name any more but are still open
# says: No space left on device
import os


def double(x):
    kept = []
    for _ in range(10):
        file = open("file", "wb")  # noqa: PTH123, SIM115
        os.unlink("file")  # noqa: PTH108
        for _ in range(32):
            file.write(bytes(1 << 20))
        file.flush()
        kept.append(file)
    return 2 * x
