import jax
import jax.numpy as jnp


def nth_grad(f, n):
    for _ in range(n):
        f = jax.grad(f)
    return f


# f stays a function of one number; only what comes out of grad is mapped. So f may branch, which
# the sum of PyTorch would not allow, and no derivative of one point in another is ever computed.
def derivatives(f, xs, n):
    return jnp.stack([jax.vmap(nth_grad(f, k))(xs) for k in range(n + 1)])


def heat_residual(u, ts, xs):
    u_t = jax.grad(u, argnums=0)
    u_xx = jax.grad(jax.grad(u, argnums=1), argnums=1)

    def residual(t, x):
        return u_t(t, x) - u_xx(t, x)

    return jax.vmap(residual)(ts, xs)
