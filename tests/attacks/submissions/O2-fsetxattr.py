# O2: attaches something to a library that it may read
# says: PermissionError
import os


def double(x):
    library = os.open(os.__file__, os.O_RDONLY)
    os.setxattr(library, "user.jaxtutor", b"mine")
    os.removexattr(library, "user.jaxtutor")
    return 2 * x
