# U2: keeps data in pipes, where no limit on memory counts it
# says: PermissionError
import fcntl
import os


def double(x):
    kept = []
    for _ in range(20):
        kept.append(os.pipe())
        fcntl.fcntl(kept[-1][1], fcntl.F_SETPIPE_SZ, 1 << 20)
        os.write(kept[-1][1], bytes(1 << 20))
    return 2 * x
