import jax
import jax.numpy as jnp


def straight_through(f, x):
    return x + jax.lax.stop_gradient(f(x) - x)


# c, solve and f reach the rules as closures, so each custom function has one argument, the one
# that gets a gradient; nothing needs nondiff_argnums or a gradient that is thrown away.
def apply(forward, backward, x):
    @jax.custom_vjp
    def call(x):
        return forward(x)[0]

    call.defvjp(forward, lambda saved, ct: (backward(saved, ct),))
    return call(x)


def clip_gradient(x, c):
    return apply(lambda x: (x, None), lambda _, ct: jnp.clip(ct, -c, c), x)


def root(solve, f, a):
    def forward(a):
        x = solve(f, a)
        return x, (x, a)

    def backward(saved, ct):
        f_x, f_a = jax.grad(f, argnums=(0, 1))(*saved)
        return -ct * f_a / f_x

    return apply(forward, backward, a)
