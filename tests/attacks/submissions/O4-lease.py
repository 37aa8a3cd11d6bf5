# O4: has others wait until it lets go of a file
# says: PermissionError
import fcntl
import os


def double(x):
    fcntl.fcntl(os.open("leased", os.O_CREAT | os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)
    return 2 * x
