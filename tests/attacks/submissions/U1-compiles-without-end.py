# U1: a program that grows as long as it is traced
# says: took longer than 4 s in `double(x)`
import jax


@jax.jit
def double(x):
    while True:
        x = x + 1
