# O2: opens a module of site-packages to write
# says: PermissionError
import jax


def double(x):
    open(jax.__file__, "r+").close()
    return 2 * x
