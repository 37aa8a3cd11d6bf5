# O6: leaves a program behind that ignores the end
# says: PermissionError
import signal
import subprocess


def double(x):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    subprocess.Popen(["sleep", "3"], start_new_session=True)
    return 2 * x
