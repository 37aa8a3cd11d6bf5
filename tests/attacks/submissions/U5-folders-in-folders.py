# U5: folders without end
# says: No space left on device
import os


def double(x):
    for number in range(10_000):
        os.mkdir(f"folder{number}")  # noqa: PTH102
    return 2 * x
