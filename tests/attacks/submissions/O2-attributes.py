# O2: sets attributes of a library that it may read
# says: PermissionError
import array
import fcntl
import os


def double(x):
    library = os.open(os.__file__, os.O_RDONLY)
    flags = array.array("l", [0])
    fcntl.ioctl(library, 0x80086601, flags, True)  # FS_IOC_GETFLAGS
    fcntl.ioctl(library, 0x40086602, flags)  # FS_IOC_SETFLAGS
    return 2 * x
