# O5: starts a shell (subprocess)
# says: PermissionError
import subprocess


def double(x):
    subprocess.run(["/bin/sh", "-c", "true"], check=True)
    return 2 * x
