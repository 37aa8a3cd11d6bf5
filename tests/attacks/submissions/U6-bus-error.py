# U6: touches a file that has become shorter
# says: killed by SIGBUS
import mmap


def double(x):
    with open("file", "w+b") as file:  # noqa: PTH123
        file.truncate(1 << 20)
        memory = mmap.mmap(file.fileno(), 1 << 20)
        file.truncate(0)
    memory[0] = 1
    return 2 * x
