# U5: files that are filled by way of memory
# says: SIGBUS
import mmap


def double(x):
    kept = []
    for number in range(10):
        with open(f"file{number}", "w+b") as file:  # noqa: PTH123
            file.truncate(32 << 20)
            memory = mmap.mmap(file.fileno(), 32 << 20)
        for at in range(0, len(memory), 4096):
            memory[at] = 1
        kept.append(memory)
    return 2 * x
