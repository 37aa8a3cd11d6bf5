# U3: starts programs
# says: PermissionError
import subprocess
import sys


def double(x):
    subprocess.run([sys.executable, "-c", ""])
    return 2 * x
