# O4: ends another process through a descriptor of it
# says: PermissionError
import os
import signal


def double(x):
    process = os.pidfd_open(@SIBLING@)
    signal.pidfd_send_signal(process, 9)
    return 2 * x
