# O2: adds a module to site-packages
# says: PermissionError
import os

import jax


def double(x):
    path = os.path.join(os.path.dirname(jax.__file__), "attack.py")
    with open(path, "w") as file:
        file.write("")
    os.unlink(path)
    return 2 * x
