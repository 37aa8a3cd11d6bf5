# O2: changes the mode of a library that it may read
# says: PermissionError
import os


def double(x):
    library = os.open(os.__file__, os.O_RDONLY)
    os.fchmod(library, os.fstat(library).st_mode & 0o7777)
    return 2 * x
