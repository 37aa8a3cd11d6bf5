# U2: anonymous shared memory, which no limit on private data counts
# says: PermissionError
import mmap


def double(x):
    with mmap.mmap(-1, 2 << 30) as memory:
        for at in range(0, len(memory), 4096):
            memory[at] = 1
    return 2 * x
