# U1: a program that grows as long as it is traced
# says: s of processor time in `double(x)` and was stopped
import jax


@jax.jit
def double(x):
    while True:
        x = x + 1
